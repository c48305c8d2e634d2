// A convolution of 3 x 3 as nine products, of the pixels at each of the nine places with the weight's columns for it: the
// sums of one are exact integers, which are multiplied by the scales of their pixels and added up in floats.
#pragma once

#include "compiled.h"
#include "pixel_tiles.h"

namespace mezzotint::gemm {

template <class Architecture, typename Element, class Shape_>
struct ConvolutionTraits : Traits<Architecture, Element, 8, Shape_> {
    using Plain = Traits<Architecture, Element, 8, Shape_>;
    using Sum = float;
    static constexpr bool has_row_scales = false;
    static constexpr int pixels_begin = Plain::shared_bytes;
    static constexpr int shared_bytes = pixels_begin + Shape_::tile_m * static_cast<int>(sizeof(Pixel));
};

template <class T>
class ConvolutionLoop {
    using Architecture = typename T::Architecture;
    using Shape = typename T::Shape;
    using XTiles = PixelTiles<Architecture, Shape::tile_m, Shape::threads, T::stages>;
    using WeightTiles = RowTiles<Architecture, Shape::tile_n, Shape::threads, T::stages>;

public:
    float sums[Shape::m_tiles][Shape::n_tiles][4] = {};

    // `pixels` are those of the tile's rows.
    MZT_DEVICE ConvolutionLoop(const LinearParams& params, const Place& place, const Pixel* pixels, uint32_t shared)
        : params_(params),
          pixels_(pixels),
          x_(params, pixels, shared),
          weight_(static_cast<const char*>(params.weight) + place.first_column * params.weight_stride,
                  params.weight_stride, params.out_columns - place.first_column, kTaps * params.in_bytes,
                  shared + T::weight_begin),
          tiles_(kTaps * (params.in_bytes / kTileDepth)) {}

    MZT_DEVICE void run() {
#pragma unroll
        for (int tile = 0; tile < T::stages - 1; ++tile) begin(tile);
        end(0);
        Tap tap;
        int tile = 0;
#pragma unroll 1
        for (int end = tiles_ / kTaps; end <= tiles_; end += tiles_ / kTaps) {
            float scales[Shape::m_tiles][2];
            read_scales(scales, tap);
            int32_t of_tap[Shape::m_tiles][Shape::n_tiles][4] = {};
            for (; tile < end; ++tile) multiply(of_tap, tile);
            add_tap(of_tap, scales);
            tap.advance();
        }
    }

private:
    MZT_DEVICE void multiply(int32_t (&of_tap)[Shape::m_tiles][Shape::n_tiles][4], int tile) {
        barrier();  // this tile is there for all, and all are done with the one before
        begin(tile + T::stages - 1);
        multiply_tile<T>(of_tap, x_.at(tile), weight_.at(tile));
        end(tile + 1);
    }

    // Those of the pixels at one place; 0 outside of the image.
    MZT_DEVICE void read_scales(float (&scales)[Shape::m_tiles][2], const Tap& tap) const {
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const Pixel& pixel = pixels_[warp_row<T>() + thread_index() % 32 / 4 + m * 16 + half * 8];
                const bool is_inside = tap.is_inside(params_, pixel);
                scales[m][half] = is_inside ? params_.x_scales[tap.index(params_, pixel)] : 0;
            }
        }
    }

    MZT_DEVICE void add_tap(const int32_t (&of_tap)[Shape::m_tiles][Shape::n_tiles][4],
                            const float (&scales)[Shape::m_tiles][2]) {
#pragma unroll
        for (int m = 0; m < Shape::m_tiles; ++m) {
#pragma unroll
            for (int n = 0; n < Shape::n_tiles; ++n) {
#pragma unroll
                for (int each = 0; each < 4; ++each) {
                    sums[m][n][each] = fmaf(static_cast<float>(of_tap[m][n][each]), scales[m][each / 2], sums[m][n][each]);
                }
            }
        }
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

    const LinearParams& params_;
    const Pixel* pixels_;
    XTiles x_;
    WeightTiles weight_;
    int tiles_;
};

template <class T>
MZT_DEVICE void convolution_block(const LinearParams& params, void* shared) {
    const Place place = place_of<T>(params, block_index());
    Pixel* pixels = reinterpret_cast<Pixel*>(static_cast<char*>(shared) + T::pixels_begin);
    for (int row = thread_index(); row < T::Shape::tile_m; row += T::Shape::threads) {
        pixels[row] = Pixel::of(params, place.first_row + row);
    }
    barrier();
    ConvolutionLoop<T> loop(params, place, pixels, shared_address(shared));
    loop.run();
    Values<T> values;
    scale_sums<T>(values, loop.sums, params, layer_of<T>(params, place), place);
    write_out<T>(values, params, place);
}

#ifdef MEZZOTINT_EMULATOR

template <class T>
void run_convolution(const void* params, void* shared) {
    if constexpr (kEmulated && kRunsHere<T>) convolution_block<T>(*static_cast<const LinearParams*>(params), shared);
}

#else

template <typename Element, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) convolution_product(const __grid_constant__ LinearParams params) {
    using T = ConvolutionTraits<ThisArchitecture, Element, Shape>;
    if constexpr (kRunsHere<T>) {
        extern __shared__ __align__(128) char shared[];
        convolution_block<T>(params, shared);
    }
}

#endif

template <typename Element, class Shape>
Instance convolution_instance() {
    using T = ConvolutionTraits<Ampere, Element, Shape>;
    using OnTuring = ConvolutionTraits<Turing, Element, Shape>;
    Instance made = described<T, OnTuring>();
    made.is_convolution = true;
#ifdef MEZZOTINT_EMULATOR
    made.entry = made.hopper_entry = &run_convolution<T>;
    made.turing_entry = &run_convolution<OnTuring>;
#else
    made.entry = made.turing_entry = made.hopper_entry =
        reinterpret_cast<Entry>(&convolution_product<Element, Shape>);
#endif
    return made;
}

}  // namespace mezzotint::gemm
