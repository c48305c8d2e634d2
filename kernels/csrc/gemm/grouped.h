// The product of 4-bit x and weights whose scales belong to 64 columns each: integers within a group, floats beyond it.
//
// A product of 16 x 8 x 64 is one group. It begins at the integer whose bits are those of 1.5 2^23 as a float: what is
// added to it is added to that float, whose digits have room for all sums of a group, so that nothing is converted.
#pragma once

#include "compiled.h"
#include "scale_tiles.h"

namespace mezzotint::gemm {

// Of eight warps: beside the sums, 64 x 64 for each warp would leave too few registers.
using Shape128x128By8 = Shape<2, 4, 4, 4, 3>;

constexpr int32_t kFloatBegin = 0x4b400000;  // the bits of kFloatOffset
constexpr float kFloatOffset = 12582912.0f;

template <class Architecture, typename Element, class Shape_>
struct GroupedTraits : Traits<Architecture, Element, 4, Shape_, 4> {
    using Plain = Traits<Architecture, Element, 4, Shape_, 4>;
    static constexpr bool has_group_scales = true;
    static constexpr int scales_begin = Plain::shared_bytes;
    static constexpr int scales_bytes = kTileGroups * (Shape_::tile_m * 4 + Shape_::tile_n * 2);
    static constexpr int shared_bytes = scales_begin + Plain::stages * scales_bytes;
    static constexpr float unit = 1.0f / (1 << Plain::sum_shift);  // of the integers
};

template <class T>
class GroupedMainloop {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    using XTiles = RowTiles<Architecture, Shape::tile_m, Shape::threads, T::stages>;
    using WeightTiles = RowTiles<Architecture, Shape::tile_n, Shape::threads, T::stages>;

public:
    float sums[Shape::m_tiles][Shape::n_tiles][4] = {};

    MZT_DEVICE GroupedMainloop(const LinearParams& params, const Place& place, uint32_t shared)
        : x_(static_cast<const char*>(params.x) + place.first_row * params.x_stride, params.x_stride,
             params.rows - place.first_row, params.in_bytes, shared),
          weight_(static_cast<const char*>(params.weight) + place.first_column * params.weight_stride,
                  params.weight_stride, params.out_columns - place.first_column, params.in_bytes,
                  shared + T::weight_begin),
          scales_(params, place.first_row, place.first_column, shared + T::scales_begin),
          tiles_((params.in_bytes + kTileDepth - 1) / kTileDepth) {}

    MZT_DEVICE void run() {
#pragma unroll
        for (int tile = 0; tile < T::stages - 1; ++tile) begin(tile);
        end(0);
#pragma unroll 1
        for (int tile = 0; tile < tiles_; ++tile) {
            barrier();  // this tile is there for all, and all are done with the one before
            begin(tile + T::stages - 1);
#pragma unroll
            for (int group = 0; group < kTileGroups; ++group) multiply_group(tile, group);
            end(tile + 1);
        }
    }

private:
    MZT_DEVICE void begin(int tile) {
        if (tile < tiles_) {
            x_.begin(tile);
            weight_.begin(tile);
            scales_.begin(tile);
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

    // sums += scales * (x weight'), of 64 columns.
    MZT_DEVICE void multiply_group(int tile, int group) {
        const int lane = thread_index() % 32;
        const uint32_t x_first = ByteTile::first(x_.at(tile), warp_row<T>() + lane % 16, lane / 16);
        const uint32_t weight_first =
            ByteTile::first(weight_.at(tile), warp_column<T>() + lane % 8 + lane / 16 * 8, lane / 8 % 2);
        const uint32_t x_scales = scales_.x_at(tile, group) + (warp_row<T>() + lane / 4) * 4;
        const uint32_t weight_scales = scales_.weight_at(tile, group) + (warp_column<T>() + lane % 4 * 2) * 2;
        uint32_t a[Shape::m_tiles][4];
        float of_rows[Shape::m_tiles][2];
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
            load_matrices(a[m], ByteTile::at(x_first, m * 16, group * 2));
            of_rows[m][0] = float_of(load_shared4(x_scales + m * 64)) * T::unit;
            of_rows[m][1] = float_of(load_shared4(x_scales + m * 64 + 32)) * T::unit;
        }
#pragma unroll
        for (int n = 0; n < Shape::n_tiles; n += 2) {
            uint32_t b[4];
            load_matrices(b, ByteTile::at(weight_first, n * 8, group * 2));
            const uint32_t first = load_shared4(weight_scales + n * 16), second = load_shared4(weight_scales + n * 16 + 16);
#pragma unroll
            for (int m = 0; m < Shape::m_tiles; ++m) {
                add_scaled(sums[m][n], a[m], b[0], b[1], of_rows[m], low_half(first), high_half(first));
                add_scaled(sums[m][n + 1], a[m], b[2], b[3], of_rows[m], low_half(second), high_half(second));
            }
        }
    }

    MZT_DEVICE static void add_scaled(float (&to)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                                      const float (&of_rows)[2], float left, float right) {
        int32_t integers[4] = {kFloatBegin, kFloatBegin, kFloatBegin, kFloatBegin};
        multiply_int4<Architecture>(integers, a, b0, b1);
#pragma unroll
        for (int each = 0; each < 4; ++each) {
            const float whole = float_of(static_cast<uint32_t>(integers[each])) - kFloatOffset;
            to[each] = fmaf(whole, of_rows[each / 2] * (each % 2 ? right : left), to[each]);
        }
    }

    XTiles x_;
    WeightTiles weight_;
    ScaleTiles<T> scales_;
    int tiles_;
};

// values = sums + bias.
template <class T>
MZT_DEVICE void add_bias(Values<T>& values, const LinearParams& params, const Place& place) {
    using Element = typename T::Element;
#pragma unroll
    for (int n = 0; n < T::Shape::n_tiles; ++n) {
        const int column = fragment_column<T>(place) + n * 8;
        if (column >= params.out_columns) continue;
        const Element* bias = static_cast<const Element*>(params.bias) + column;
        const float left = to_float(bias[0]), right = to_float(bias[1]);
#pragma unroll
        for (int m = 0; m < T::Shape::m_tiles; ++m) {
#pragma unroll
            for (int each = 0; each < 4; ++each) values[m][n][each] += each % 2 ? right : left;
        }
    }
}

template <class T>
MZT_DEVICE void grouped_block(const LinearParams& params, void* shared) {
    const Place place = place_of<T>(params, block_index());
    GroupedMainloop<T> loop(params, place, shared_address(shared));
    loop.run();
    if (params.bias) add_bias<T>(loop.sums, params, place);
    if (params.branch_x) add_branch<T>(loop.sums, params, place, shared_address(shared));
    write_out<T>(loop.sums, params, place);
}

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_grouped(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) grouped_block<T>(*static_cast<const LinearParams*>(params), shared);
}

#else

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) grouped_linear_product(const __grid_constant__ LinearParams params) {
    using T = GroupedTraits<Int4Architecture, Element, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        grouped_block<T>(params, shared);
    }
}

#endif

template <typename Element, class Shape>
Instance grouped_instance() {
    using T = GroupedTraits<Ampere, Element, Shape>;
    using OnTuring = GroupedTraits<Turing, Element, Shape>;
    Instance made = described<T, OnTuring>();
#ifdef MEZZOTINT_EMULATOR
    made.entry = &run_grouped<T>;
    made.turing_entry = &run_grouped<OnTuring>;
    made.hopper_entry = &run_grouped<GroupedTraits<Hopper, Element, Shape>>;
#else
    made.entry = reinterpret_cast<Entry>(&grouped_linear_product<Element, Shape>);
    made.turing_entry = made.hopper_entry = made.entry;
#endif
    return made;
}

}  // namespace mezzotint::gemm
