// One block's work: x weight' in exact integers, or in floats of 32 bits for those of 8, a tile of 64 bytes of x's
// columns at a time.
//
//     barrier: tile j is there for all, and all are done with j-1 | begin j+stages-1 | multiply j | end j+1
//
// Weights of 4 bits for x of 8 become bytes in end(), so that what is multiplied has one form.
#pragma once

#include <type_traits>

#include "fp8_products.h"
#include "packed_tiles.h"
#include "params.h"

namespace mezzotint::gemm {

// A block's tile of the output.
struct Place {
    int first_row, first_column;
    int split = 0;  // which part of x's columns
};

// The layer whose columns a block computes.
struct Layer {
    const void* weight;
    const float* weight_scales;
    const void* bias;
    const void* norm_weight;
    int first_column;  // of the output
    uint32_t flags;    // of a part
};

MZT_DEVICE Layer part_layer(const LinearParams& params, int number) {
    const LinearPart& part = params.parts[number];
    return {part.weight, part.weight_scales, part.bias, part.norm_weight, 0, part.flags};
}

// A tile of the output is one part's: each has a multiple of the tile's width.
template <class T>
MZT_DEVICE Layer layer_of(const LinearParams& params, const Place& place) {
    Layer layer{params.weight, params.weight_scales, params.bias, nullptr, 0, 0};
    if constexpr (T::weight_bits == 8) {
        int begin = 0;
#pragma unroll
        for (int number = 0; number < kMostParts; ++number) {
            const LinearPart& part = params.parts[number];
            if (number < params.part_count && place.first_column >= begin && place.first_column < part.end) {
                layer = {part.weight, part.weight_scales, part.bias, part.norm_weight, begin, part.flags};
            }
            begin = part.end;
        }
    }
    return layer;
}

template <class T>
class Mainloop {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    using XTiles = RowTiles<Architecture, Shape::tile_m, Shape::threads, T::stages>;
    using WeightTiles = std::conditional_t<T::is_widened, PackedTiles<T>,
                                           RowTiles<Architecture, Shape::tile_n, Shape::threads, T::stages>>;

public:
    typename T::Sum sums[Shape::m_tiles][Shape::n_tiles][4] = {};

    MZT_DEVICE Mainloop(const LinearParams& params, const Layer& layer, const Place& place, uint32_t shared)
        : x_(static_cast<const char*>(params.x) + place.first_row * params.x_stride, params.x_stride,
             params.rows - place.first_row, params.in_bytes, shared),
          weight_(weight_tiles(params, layer, place, shared)),
          first_(T::is_split ? place.split * params.tiles_per_split : 0),
          tiles_(last_tile(params, place)) {}

    MZT_DEVICE void run() {
#pragma unroll
        for (int tile = 0; tile < T::stages - 1; ++tile) begin(first() + tile);
        weight_.read_scales(first());
        end(first());
#pragma unroll 1
        for (int tile = first(); tile < tiles_; ++tile) {
            barrier();  // this tile is there for all, and all are done with the one before
            begin(tile + T::stages - 1);
            weight_.read_scales(tile + 1);
            if constexpr (T::is_fp8) {
                add_fp8_tile<T>(sums, x_.at(tile), weight_.at(tile));
            } else {
                multiply_tile<T>(sums, x_.at(tile), weight_.at(tile));
            }
            end(tile + 1);
        }
    }

private:
    MZT_DEVICE static WeightTiles weight_tiles(const LinearParams& params, const Layer& layer, const Place& place,
                                               uint32_t shared) {
        if constexpr (T::is_widened) {
            return WeightTiles(params, place.first_column, shared);
        } else if constexpr (T::is_gated) {
            const int64_t before = place.first_column * params.weight_stride;
            return WeightTiles(static_cast<const char*>(params.parts[0].weight) + before,
                               static_cast<const char*>(params.parts[1].weight) + before, params.weight_stride,
                               params.out_columns - place.first_column, params.in_bytes, shared + T::weight_begin);
        } else {
            return WeightTiles(static_cast<const char*>(layer.weight) + place.first_column * params.weight_stride,
                               params.weight_stride, params.out_columns - place.first_column, params.in_bytes,
                               shared + T::weight_begin);
        }
    }

    MZT_DEVICE int first() const { return T::is_split ? first_ : 0; }

    // The end of this block's part of x's columns.
    MZT_DEVICE static int last_tile(const LinearParams& params, const Place& place) {
        const int tiles = (params.in_bytes + kTileDepth - 1) / kTileDepth;
        if constexpr (T::is_split) {
            const int last = (place.split + 1) * params.tiles_per_split;
            return last < tiles ? last : tiles;
        }
        return tiles;
    }

    MZT_DEVICE void begin(int tile) {
        if (tile < tiles_) {
            x_.begin(tile);
            weight_.begin(tile);
        }
        commit_copies<Architecture>();
    }

    MZT_DEVICE void end(int tile) {
        wait_copies<Architecture, T::stages - 2>();
        if (tile < tiles_) {
            x_.end(tile);
            weight_.end(tile);
        }
    }

    XTiles x_;
    WeightTiles weight_;
    int first_, tiles_;
};

}  // namespace mezzotint::gemm
