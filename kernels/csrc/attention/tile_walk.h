// The tiles of keys that a block takes, a step each, from the last to the first: all that its queries see, or those of
// the blocks in its row of a table.
//
// A table names blocks of 64 keys, one or more tiles. Those in which some queries see only some keys have bits, a word
// of 64 for each query; nobody looks at the keys of other blocks one by one.
//
// The backward pass, in which blocks take keys and walk along queries, follows the transposed table in the same way.
#pragma once

#include "../api.h"
#include "params.h"
#include "traits.h"

namespace mezzotint {

constexpr int kBlockKeys = 64;
constexpr int kPartial = MZT_PARTIAL;  // of an entry, and of a tile's number: bits say which of its keys are seen

// Whether a kernel follows tables: those that look at masks in every tile.
template <class T>
constexpr bool kFollowsTables = T::masked && kBlockKeys % T::Shape::tile_n == 0;

// The rows of the table of a batch and head begin there.
MZT_DEVICE int64_t first_row_of_table(const BlockTable& table, int64_t batch, int head) {
    return batch * table.stride_batch + head * table.stride_head;
}

// The tile of queries that a block takes, the `number`th of its head: by a table's order of rows, if it has one.
template <class T>
MZT_DEVICE int query_tile(const BlockTable& table, int64_t batch, int head, int number) {
    if constexpr (kFollowsTables<T>) {
        if (table.order) {
            const int per_row = (1 << table.log2_queries) / T::Shape::tile_m;
            const int row = table.order[first_row_of_table(table, batch, head) + number / per_row];
            return row * per_row + number % per_row;
        }
    }
    return number;
}

template <class T>
class TileWalk {
    static constexpr int per_block = kFollowsTables<T> ? kBlockKeys / T::Shape::tile_n : 1;

public:
    int steps;

    // `tiles` are those with keys that some query of the block sees.
    MZT_DEVICE TileWalk(const BlockTable& table, int64_t batch, int head, int first_query, int tiles)
        : steps(tiles), table_(table), first_query_(first_query) {
        if constexpr (kFollowsTables<T>) {
            if (!table.row_ptr) return;
            const int32_t* row = table.row_ptr + first_row_of_table(table, batch, head) +
                                 (first_query >> table.log2_queries);
            first_entry_ = row[0];
            steps = (row[1] - row[0]) * per_block;
            while (steps > 0 && number(at(steps - 1)) >= tiles) --steps;
        }
    }

    // The tile of a step, with kPartial where it has bits; anything for steps below 0, which nobody takes.
    MZT_DEVICE int at(int step) const {
        if constexpr (kFollowsTables<T>) {
            if (table_.row_ptr) {
                const int entry = step < 0 ? 0 : table_.col[first_entry_ + step / per_block];
                return (entry & kPartial) | ((entry & (kPartial / per_block - 1)) * per_block + step % per_block);
            }
        }
        return step;
    }

    MZT_DEVICE static int number(int tile) { return kFollowsTables<T> ? tile & ~kPartial : tile; }

    // The words of the block's first query and those after it; null where all keys are seen.
    MZT_DEVICE const uint64_t* words(int tile, int step) const {
        if constexpr (kFollowsTables<T>) {
            if (tile & kPartial) {
                const int64_t place = table_.tile[first_entry_ + step / per_block];
                const int query = first_query_ & ((1 << table_.log2_queries) - 1);
                return table_.bits + (place << table_.log2_queries) + query;
            }
        }
        return nullptr;
    }

private:
    const BlockTable& table_;
    int first_query_, first_entry_ = 0;
};

}  // namespace mezzotint
