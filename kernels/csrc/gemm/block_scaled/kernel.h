// The kernel of block-scaled products: main loop, scales of rows and of the whole weight, and gemm's way out.
//
//     barrier: tile j is there for all, and all are done with j-1 | begin j+stages-1 | multiply j | wait for j+1
#pragma once

#include "../kernel.h"
#include "params.h"
#include "products.h"

namespace mezzotint::block_scaled {

using gemm::Place;

template <class T>
class Mainloop {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;

public:
    gemm::Values<T> sums = {};

    MZT_DEVICE Mainloop(const BlockScaledParams& params, const Place& place, uint32_t shared)
        : x_(static_cast<const char*>(params.linear.x) + place.first_row * params.linear.x_stride, params.linear.x_stride,
             params.linear.rows - place.first_row, params.linear.in_bytes, shared),
          weight_(static_cast<const char*>(params.linear.weight) + place.first_column * params.linear.weight_stride,
                  params.linear.weight_stride, params.linear.out_columns - place.first_column, params.linear.in_bytes,
                  shared + T::weight_begin),
          x_scales_(params.x_block_scales, params.x_block_scales_stride, place.first_row,
                    params.linear.rows - place.first_row, shared + T::x_scales_begin),
          weight_scales_(params.weight_block_scales, params.weight_block_scales_stride, place.first_column,
                         params.linear.out_columns - place.first_column, shared + T::weight_scales_begin),
          tiles_(params.linear.in_bytes / kTileDepth) {}

    MZT_DEVICE void run() {
#pragma unroll
        for (int tile = 0; tile < T::stages - 1; ++tile) begin(tile);
        wait_copies<Architecture, T::stages - 2>();
#pragma unroll 1
        for (int tile = 0; tile < tiles_; ++tile) {
            barrier();  // this tile is there for all, and all are done with the one before
            begin(tile + T::stages - 1);
            multiply_tile<T>(sums, {x_.at(tile), weight_.at(tile), x_scales_.at(tile), weight_scales_.at(tile)}, tile);
            wait_copies<Architecture, T::stages - 2>();
        }
    }

private:
    MZT_DEVICE void begin(int tile) {
        if (tile < tiles_) {
            x_.begin(tile);
            weight_.begin(tile);
            x_scales_.begin(tile);
            weight_scales_.begin(tile);
        }
        commit_copies<Architecture>();
    }

    gemm::RowTiles<Architecture, Shape::tile_m, Shape::threads, T::stages> x_;
    gemm::RowTiles<Architecture, Shape::tile_n, Shape::threads, T::stages> weight_;
    ScaleTiles<T, Shape::tile_m> x_scales_;
    ScaleTiles<T, Shape::tile_n> weight_scales_;
    int tiles_;
};

// sums = sums * x_scales * weight_scale + bias; of rows and columns beyond the end, anything.
template <class T>
MZT_DEVICE void scale_sums(gemm::Values<T>& sums, const BlockScaledParams& params, const Place& place) {
    using Element = typename T::Element;
    const float weight_scale = params.weight_scale ? *params.weight_scale : 1;
    float scales[T::Shape::m_tiles][2];
#pragma unroll
    for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = gemm::fragment_row<T>(place) + m * 16 + half * 8;
            const bool has_scale = params.linear.x_scales && row < params.linear.rows;
            scales[m][half] = weight_scale * (has_scale ? params.linear.x_scales[row] : 1);
        }
    }
#pragma unroll
    for (int n = 0; n < T::Shape::n_tiles; ++n) {
        const int column = gemm::fragment_column<T>(place) + n * 8;
        float bias[2] = {};
        if (params.linear.bias && column < params.linear.out_columns) {
            bias[0] = to_float(static_cast<const Element*>(params.linear.bias)[column]);
            bias[1] = to_float(static_cast<const Element*>(params.linear.bias)[column + 1]);
        }
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
            for (int each = 0; each < 4; ++each) {
                sums[m][n][each] = sums[m][n][each] * scales[m][each / 2] + bias[each % 2];
            }
        }
    }
}

template <class T>
MZT_DEVICE void linear_block(const BlockScaledParams& params, void* shared) {
    const Place place = gemm::place_of<T>(params.linear, block_index());
    Mainloop<T> loop(params, place, shared_address(shared));
    loop.run();
    scale_sums<T>(loop.sums, params, place);
    if (params.linear.branch_x) gemm::add_branch<T>(loop.sums, params.linear, place, shared_address(shared));
    gemm::write_out<T>(loop.sums, params.linear, place);
}

}  // namespace mezzotint::block_scaled
