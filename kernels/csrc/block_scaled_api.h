/* Products of block-scaled floating-point numbers: MXFP8 and NVFP4 (OCP Microscaling Formats; arXiv 2509.25149).
 *
 * Compute capability 12.0 multiplies them and applies the blocks' scales in one instruction; elsewhere the functions
 * return MZT_UNSUPPORTED. */
#ifndef MEZZOTINT_BLOCK_SCALED_API_H
#define MEZZOTINT_BLOCK_SCALED_API_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MztBlockFormat {
    MZT_MXFP8 = 1, /* E4M3; 32 columns share a scale, 2^(byte - 127) */
    MZT_NVFP4 = 2  /* E2M1, two to a byte, the even column high; 16 columns share a scale in E4M3, and a row or the whole
                      matrix one in float32 */
} MztBlockFormat;

/* Prepare rows as mzt_quantize does, without rotation, and round them to the format, to the nearest, ties to even.
 *
 * MXFP8: a block's scale is the least power of two that makes none of its numbers exceed 448. NVFP4: the row's scale is
 * its largest magnitude over 6 * 448, or 1 for a row of zeros; a block's is its largest over 6 and the row's scale. */
typedef struct MztBlockScaledQuantizeArgs {
    uint32_t size; /* sizeof(MztBlockScaledQuantizeArgs) */
    uint32_t abi;
    uint32_t format;
    uint32_t reserved;    /* 0 */
    MztQuantizeArgs rows; /* bits is 8 or 4 as the format has them, group 0; columns is a multiple of 128; scales are the
                             rows' of NVFP4, and null with MXFP8 */
    uint8_t *block_scales; /* (rows, columns / 32 or 16) */
    int64_t block_scales_stride; /* bytes, a multiple of 4, with NVFP4 of 8 */
} MztBlockScaledQuantizeArgs;

/* As mzt_linear, for x and weight in the format; sums are float32. */
typedef struct MztBlockScaledLinearArgs {
    uint32_t size; /* sizeof(MztBlockScaledLinearArgs) */
    uint32_t abi;
    uint32_t format;
    uint32_t reserved;    /* 0 */
    MztLinearArgs linear; /* both kinds of bits are 8 or 4 as the format has them; `in` is a multiple of 128; x_scales
                             may be null, for 1; weight_scales and group_scales are null */
    const uint8_t *x_block_scales, *weight_block_scales; /* (rows or out_columns, in / 32 or 16) */
    int64_t x_block_scales_stride, weight_block_scales_stride; /* bytes, multiples of 4, with NVFP4 of 8 */
    const float *weight_scale; /* a single one, in device memory; null: 1 */
} MztBlockScaledLinearArgs;

/* Queue the quantization, or the product; MZT_UNSUPPORTED, before anything is queued, where no kernel fits. */
MZT_API MztStatus mzt_block_scaled_quantize(const MztBlockScaledQuantizeArgs *args, int32_t device, void *stream);
MZT_API MztStatus mzt_block_scaled_linear(const MztBlockScaledLinearArgs *args, int32_t device, void *stream);

#ifdef __cplusplus
}
#endif

#endif
