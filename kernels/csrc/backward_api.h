/* The backward pass of attention, as api.h declares the forward: gradients of q, k and v, with the weights computed again
 * from the forward's logarithms of sums. */
#ifndef MEZZOTINT_BACKWARD_API_H
#define MEZZOTINT_BACKWARD_API_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* MztAttentionBackwardArgs.flags, besides MZT_CAUSAL */
    MZT_UNORDERED = 1u << 2 /* sums of dq in whatever order they come: less workspace, and other bits each time */
};

/* Strides are in elements, the head dimension's is 1. Rows that see no key have an lse of -inf, and a gradient of 0. */
typedef struct MztAttentionBackwardArgs {
    uint32_t size; /* sizeof(MztAttentionBackwardArgs) */
    uint32_t abi;  /* MZT_ABI_VERSION */
    uint32_t dtype; /* of all tensors but lse and lse_gradient: MZT_FLOAT16 or MZT_BFLOAT16 */
    uint32_t flags;
    int64_t batch, heads, kv_heads; /* heads is a multiple of kv_heads */
    int64_t nq, nk, head_dim;
    const void *q, *k, *v;
    const void *out, *out_gradient; /* like q */
    const float *lse;               /* (batch, heads, nq), contiguous, natural logarithm */
    const float *lse_gradient;      /* likewise; null: 0 */
    void *dq, *dk, *dv;             /* like q, k and v */
    int64_t q_stride[3], k_stride[3], v_stride[3], out_stride[3]; /* batch, head, token */
    int64_t out_gradient_stride[3], dq_stride[3], dk_stride[3], dv_stride[3];
    const int32_t *key_lengths; /* as in the forward */
    const uint8_t *key_mask;
    int64_t key_mask_stride;
    float scale;
    void *workspace; /* device memory of at least the plan's bytes, 16-byte aligned */
    int64_t workspace_bytes;
    MztDropout dropout; /* as in the forward */
    /* The forward's table transposed, null: all blocks are seen. Its rows are blocks of 64 or 128 keys, `col` names blocks
     * of 64 queries, and a partial tile has a word for each key: bit j says whether query j of the block sees it. Tables
     * are by batch and head of queries. `order` is not read. */
    const MztBlockTable *table;
} MztAttentionBackwardArgs;

/* Which kernel would run on that device, and what it needs; never touches the tensors. */
MZT_API MztStatus mzt_attention_backward_plan(const MztAttentionBackwardArgs *args, int32_t device,
                                              MztAttentionPlan *plan);
/* Queue the three passes on a stream of the device that is current. */
MZT_API MztStatus mzt_attention_backward(const MztAttentionBackwardArgs *args, int32_t device, void *stream);

#ifdef __cplusplus
}
#endif

#endif
