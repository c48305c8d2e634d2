/* GroupNorm of tensors whose channels are next to each other in memory (channels_last), with SiLU after it:
 *
 *     out = silu((x - mean) / sqrt(variance + epsilon) * weight + bias),    mean and variance of each batch and group
 *
 * Statistics are computed in 32 bits, in an order that depends on sizes alone: the same bits each time. */
#ifndef MEZZOTINT_GROUP_NORM_API_H
#define MEZZOTINT_GROUP_NORM_API_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strides are in elements; that of channels is 1. `out` may be `x`. */
typedef struct MztGroupNormArgs {
    uint32_t size;  /* sizeof(MztGroupNormArgs) */
    uint32_t abi;   /* MZT_ABI_VERSION */
    uint32_t dtype; /* of x, weight, bias and out: MZT_FLOAT16 or MZT_BFLOAT16 */
    uint32_t silu;  /* 0 or 1 */
    int64_t batch, pixels, channels, groups; /* channels is a multiple of groups, and of 8 */
    const void *x;
    void *out;
    int64_t x_stride[2], out_stride[2]; /* batch, pixel */
    const void *weight, *bias; /* (channels); null: 1 and 0 */
    float epsilon;
    uint32_t reserved; /* 0 */
    void *workspace;   /* device memory of mzt_group_norm_workspace() bytes, 16-byte aligned */
    int64_t workspace_bytes;
} MztGroupNormArgs;

/* The bytes that these sizes need; host arithmetic only. */
MZT_API MztStatus mzt_group_norm_workspace(const MztGroupNormArgs *args, int64_t *bytes);
/* Queue the three passes on a stream of the device that is current. */
MZT_API MztStatus mzt_group_norm(const MztGroupNormArgs *args, int32_t device, void *stream);

#ifdef __cplusplus
}
#endif

#endif
