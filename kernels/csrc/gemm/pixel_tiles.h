// One thread's part in bringing what a convolution of 3 x 3 multiplies to shared memory: the rows of a tile are pixels of
// the output, and its columns 64 channels of one of the nine pixels of x that each of them sees.
#pragma once

#include "row_tiles.h"

namespace mezzotint::gemm {

// The pixel of x in the middle of the nine that one of the output sees.
struct Pixel {
    int32_t index;  // among those of all images
    int16_t y, x;   // in its image

    // Of the output's pixel with that number; beyond the last, one that sees nothing.
    MZT_DEVICE static Pixel of(const LinearParams& params, int number) {
        if (number >= params.rows) return {0, -2, -2};
        const int of_image = number % params.out_pixels, step = params.image_step;
        const int y = of_image / params.out_width * step, x = of_image % params.out_width * step;
        const int first = number / params.out_pixels * params.image_height * params.image_width;
        return {first + y * params.image_width + x, static_cast<int16_t>(y), static_cast<int16_t>(x)};
    }
};

// One of the nine, by its distance from the middle.
struct Tap {
    int y = -1, x = -1;

    MZT_DEVICE void advance() {
        if (++x <= 1) return;
        x = -1;
        ++y;
    }

    MZT_DEVICE bool is_inside(const LinearParams& params, const Pixel& pixel) const {
        return static_cast<uint32_t>(pixel.y + y) < static_cast<uint32_t>(params.image_height) &&
               static_cast<uint32_t>(pixel.x + x) < static_cast<uint32_t>(params.image_width);
    }

    MZT_DEVICE int64_t index(const LinearParams& params, const Pixel& pixel) const {
        return pixel.index + y * params.image_width + x;
    }
};

template <class Architecture, int rows, int threads, int stages>
class PixelTiles : public RowTiles<Architecture, rows, threads, stages> {
    using Base = RowTiles<Architecture, rows, threads, stages>;
    using Base::down, Base::each;

public:
    // `pixels` are those of the tile's rows, in shared memory.
    MZT_DEVICE PixelTiles(const LinearParams& params, const Pixel* pixels, uint32_t shared)
        : Base(params.x, params.x_stride, 0, 0, shared), params_(params) {
#pragma unroll
        for (int i = 0; i < each; ++i) pixels_[i] = pixels[Base::row() + i * down];
    }

    // Begin the tile after the one begun before; pixels outside of the image are zeros.
    MZT_DEVICE void begin(int tile) {
        const char* first = static_cast<const char*>(params_.x) + Base::column() + depth_;
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const char* from = first + tap_.index(params_, pixels_[i]) * params_.x_stride;
            Base::bring(tile, i, from, tap_.is_inside(params_, pixels_[i]));
        }
        depth_ += kTileDepth;
        if (depth_ < params_.in_bytes) return;
        depth_ = 0;
        tap_.advance();
    }

private:
    const LinearParams& params_;
    Pixel pixels_[each];
    Tap tap_;
    int depth_ = 0;  // channels of the tap that were begun
};

}  // namespace mezzotint::gemm
