// The thread that copies: queries, keys and values of all tiles of a block, as soon as their stages are empty.
#pragma once

#include "../kernel.h"
#include "ring.h"

namespace mezzotint {

template <class T>
class Producer {
public:
    MZT_DEVICE Producer(const HopperParams& params, uint32_t shared) : params_(params), rings_(shared) {}

    // Keys of the first tile before its queries' end, then values one tile behind: as they are asked for.
    MZT_DEVICE void copy(const Place& place, const KeyRange& range) {
        const int head = place.head / params_.forward.heads_per_kv, batch = static_cast<int>(place.batch);
        copy_tile<T::q_panel>(rings_.queries, T::q_bytes, params_.q, place.first_query, place.head, batch);
        const auto keys = [&](int tile) {
            copy_tile<T::kv_panel>(rings_.keys, T::kv_bytes, params_.k, tile * T::Shape::tile_n, head, batch);
        };
        keys(range.tiles - 1);
        for (int tile = range.tiles - 1; tile >= 0; --tile) {
            if (tile > 0) keys(tile - 1);
            copy_tile<T::kv_panel>(rings_.values, T::kv_bytes, params_.v, tile * T::Shape::tile_n, head, batch);
        }
    }

private:
    template <int panel_bytes>
    MZT_DEVICE void copy_tile(Ring& ring, uint32_t bytes, const TensorMap& map, int row, int head, int batch) {
        ring.wait_empty();
        arrive_and_announce(ring.full(), bytes);
        for (int panel = 0; panel < T::panels; ++panel) {
            copy_box(ring.tile() + panel * panel_bytes, &map, ring.full(), panel * T::columns, row, head, batch);
        }
        ring.next();
    }

    const HopperParams& params_;
    Rings<T> rings_;
};

}  // namespace mezzotint
