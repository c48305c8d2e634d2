// One thread's part in bringing weights of 4 bits to shared memory and widening them there to 8.
//
// Each number is widened once for the whole block. A thread widens only what it copied itself, so that nothing but the
// barrier that a tile needs anyhow stands between the copy and the multiplication. A tile is 64 columns deep: of each
// row it has two chunks of 32 numbers, and one group scale, or four where a codebook gives the numbers.
#pragma once

#include "codebook.h"
#include "params.h"
#include "row_tiles.h"

namespace mezzotint::gemm {

// Four numbers v of 4 bits, one in the low half of each byte, become the bytes of scale * v.
//
// (v ^ 8) is v + 8, from 1 to 15, and times a scale of at most 17 it stays within its byte: one multiplication does all
// four. Adding 128 - 8 * scale to each leaves scale * v + 128, from 9 to 247; flipping the highest bit takes the 128.
MZT_DEVICE uint32_t widen_four(uint32_t four, uint32_t scale, uint32_t offset) {
    return (((four & 0x0f0f0f0fu) ^ 0x08080808u) * scale + offset) ^ 0x80808080u;
}

// 32 packed numbers of one row to two chunks of bytes.
MZT_DEVICE void widen_chunk(Chunk (&wide)[2], const Chunk& packed, uint32_t scale) {
    const uint32_t offset = 0x80808080u - scale * 0x08080808u;
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        const uint32_t even = widen_four(packed.words[word], scale, offset);
        const uint32_t odd = widen_four(packed.words[word] >> 4, scale, offset);
        Chunk& to = wide[word / 2];
        to.words[word % 2 * 2] = pick_bytes(even, odd, 0x5140);
        to.words[word % 2 * 2 + 1] = pick_bytes(even, odd, 0x7362);
    }
}

template <class T>
class PackedTiles {
    using Architecture = typename T::Architecture;
    static constexpr int threads = T::Shape::threads;
    static constexpr int down = threads / 2;
    static constexpr int each = T::Shape::tile_n / down;
    static constexpr bool held = !Architecture::has_async_copies;
    static constexpr int ring = held ? 1 : T::packed_stages;
    static_assert(T::Shape::tile_n % down == 0 && down % 8 == 0, "the swizzle repeats every 8 rows");

public:
    MZT_DEVICE PackedTiles(const LinearParams& params, int first_row, uint32_t shared)
        : from_(static_cast<const char*>(params.weight) + (first_row + row()) * params.weight_stride + half() * 16),
          scales_(params.group_scales + (first_row + row()) * params.group_scales_stride +
                  (T::has_codebook ? 2 * half() : 0)),
          codebook_(reinterpret_cast<const Chunk*>(params.codebook)),
          stride_(params.weight_stride),
          scales_stride_(params.group_scales_stride),
          rows_left_(params.out_columns - first_row - row()),
          tiles_(params.in_bytes / kTileDepth),
          shared_(shared) {}

    // Where a widened tile is.
    MZT_DEVICE uint32_t at(int tile) const {
        return shared_ + T::weight_begin + tile % T::weight_stages * T::weight_bytes;
    }

    MZT_DEVICE void begin(int tile) {
        const char* from = from_ + tile * (kTileDepth / 2);
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const bool wanted = tile < tiles_ && i * down < rows_left_;
            if constexpr (held) {
                held_[i] = wanted ? *reinterpret_cast<const Chunk*>(from) : Chunk{};
            } else {
                copy16<Architecture>(packed(tile, i), from, wanted);
            }
            from += down * stride_;
        }
    }

    // Asked for while the tile before is multiplied, so that end() need not wait for them.
    MZT_DEVICE void read_scales(int tile) {
        const uint8_t* from = scales_ + tile * (T::has_codebook ? kTileDepth / kCodebookGroup : 1);
#pragma unroll
        for (int i = 0; i < each; ++i) {
            group_scales_[i] = tile < tiles_ && i * down < rows_left_ ? read_scale(from) : 0;
            from += down * scales_stride_;
        }
    }

    MZT_DEVICE void end(int tile) const {
#pragma unroll
        for (int i = 0; i < each; ++i) {
            Chunk wide[2];
            if constexpr (held) {
                widen(wide, held_[i], group_scales_[i]);
            } else {
                widen(wide, load_shared16(packed(tile, i)), group_scales_[i]);
            }
            const uint32_t first = ByteTile::first(at(tile), row(), 2 * half()) + i * down * kTileDepth;
            store_shared16(first, wide[0]);
            store_shared16(ByteTile::at(first, 0, 1), wide[1]);
        }
    }

private:
    MZT_DEVICE static int row() { return thread_index() / 2; }
    MZT_DEVICE static int half() { return thread_index() % 2; }

    // Those of this thread's half of a row's tile.
    MZT_DEVICE static uint32_t read_scale(const uint8_t* from) {
        if constexpr (T::has_codebook) return *reinterpret_cast<const uint16_t*>(from);
        return *from;
    }

    MZT_DEVICE void widen(Chunk (&wide)[2], const Chunk& packed, uint32_t scale) const {
        if constexpr (T::has_codebook) {
            look_up_chunk(wide, packed, codebook_, scale);
        } else {
            widen_chunk(wide, packed, scale);
        }
    }

    // Only the thread that copied a chunk reads it: any place of its own will do.
    MZT_DEVICE uint32_t packed(int tile, int i) const {
        return shared_ + T::packed_begin + tile % ring * T::packed_bytes + (i * threads + thread_index()) * 16;
    }

    const char* from_;
    const uint8_t* scales_;
    const Chunk* codebook_;
    int64_t stride_, scales_stride_;
    int rows_left_, tiles_;
    uint32_t shared_;
    uint32_t group_scales_[each];
    Chunk held_[held ? each : 1];
};

}  // namespace mezzotint::gemm
