/* Kernelized attention, in time and memory linear in the number of tokens:
 *
 *     out_i = phi(q_i)' S / divisor(phi(q_i)' z),    S = sum phi(k_j) v_j',    z = sum phi(k_j)
 *
 * The sums are accumulated in 32 bits, in an order that depends on sizes and device alone: the same bits each time. */
#ifndef MEZZOTINT_LINEAR_ATTENTION_API_H
#define MEZZOTINT_LINEAR_ATTENTION_API_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MztFeatureMap { /* phi */
    MZT_IDENTITY = 0,    /* q and k are features already */
    MZT_RELU = 1,        /* max(x, 0) */
    MZT_ELU_PLUS_ONE = 2 /* x + 1 if x > 0, else exp(x) */
} MztFeatureMap;

/* Strides are in elements, that of features and of the head dimension is 1. Keys that are not seen add nothing, whatever
 * they are. A divisor of 0 counts as 1. */
typedef struct MztLinearAttentionArgs {
    uint32_t size; /* sizeof(MztLinearAttentionArgs) */
    uint32_t abi;  /* MZT_ABI_VERSION */
    uint32_t dtype; /* of q, k, v and out: MZT_FLOAT16 or MZT_BFLOAT16; features are rounded to it */
    uint32_t map;
    int64_t batch, heads, kv_heads; /* heads is a multiple of kv_heads */
    int64_t nq, nk;
    int64_t features, head_dim; /* columns of q and k, and of v and out; multiples of 8 */
    const void *q, *k, *v;
    void *out;
    int64_t q_stride[3], k_stride[3], v_stride[3], out_stride[3]; /* batch, head, token */
    const int32_t *key_lengths; /* as in attention */
    const uint8_t *key_mask;
    int64_t key_mask_stride;
    uint32_t divided; /* 1; 0: the divisor is 1 */
    float least;      /* the divisor is the larger of this and phi(q)' z, ... */
    float epsilon;    /* plus this */
    uint32_t reserved; /* 0 */
    void *workspace;  /* device memory of at least the plan's bytes, 16-byte aligned */
    int64_t workspace_bytes;
} MztLinearAttentionArgs;

/* Which kernels would run on that device, and what they need; never touches the tensors. */
MZT_API MztStatus mzt_linear_attention_plan(const MztLinearAttentionArgs *args, int32_t device, MztAttentionPlan *plan);
/* Queue the three passes on a stream of the device that is current. */
MZT_API MztStatus mzt_linear_attention(const MztLinearAttentionArgs *args, int32_t device, void *stream);

#ifdef __cplusplus
}
#endif

#endif
