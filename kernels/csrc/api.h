/* The C ABI of Mezzotint's kernels: plain structs, raw pointers, an explicit stream; it knows no torch and no Python.
 *
 * Every argument struct begins with its own size and the ABI version, so that a caller of another version is told so and
 * never misread. No function allocates device memory, synchronizes or uses the default stream: all can be captured in a
 * graph. Functions return a MztStatus; mzt_last_error() then tells, for the calling thread, what happened and what to do.
 */
#ifndef MEZZOTINT_API_H
#define MEZZOTINT_API_H

#include <stdint.h>

#if defined(_WIN32)
#if defined(MZT_BUILDING)
#define MZT_API __declspec(dllexport)
#else
#define MZT_API __declspec(dllimport)
#endif
#else
#define MZT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MZT_ABI_VERSION 1u

typedef enum MztStatus {
    MZT_OK = 0,
    MZT_UNSUPPORTED = 1,      /* well formed, but no kernel for it here: use another implementation */
    MZT_INVALID_ARGUMENT = 2, /* a caller's mistake: the message names the argument and its value */
    MZT_ABI_MISMATCH = 3,     /* the struct is of another version of this library */
    MZT_NO_DEVICE = 4,        /* no driver, no such device */
    MZT_DRIVER_TOO_OLD = 5,
    MZT_WORKSPACE_TOO_SMALL = 6,
    MZT_LAUNCH_FAILED = 7     /* what CUDA said is in the message */
} MztStatus;

typedef enum MztDtype { MZT_FLOAT16 = 0, MZT_BFLOAT16 = 1, MZT_FLOAT32 = 2 } MztDtype;

enum { /* MztAttentionArgs.flags */
    MZT_CAUSAL = 1u << 0,      /* query i sees keys up to i + nk - nq */
    MZT_INT8_SCORES = 1u << 1  /* the scores' product in int8, K smoothed by its mean */
};

/* softmax(q k^T * scale + bias) v; strides are in elements, the head dimension's is 1. */
typedef struct MztAttentionArgs {
    uint32_t size; /* sizeof(MztAttentionArgs) */
    uint32_t abi;  /* MZT_ABI_VERSION */
    uint32_t dtype; /* of q, k, v and out: MZT_FLOAT16 or MZT_BFLOAT16 */
    uint32_t flags;
    int64_t batch, heads, kv_heads; /* heads is a multiple of kv_heads */
    int64_t nq, nk, head_dim;
    const void *q, *k, *v; /* (batch, heads or kv_heads, tokens, head_dim) by their strides */
    void *out;             /* like q */
    float *lse;            /* (batch, heads, nq), contiguous, natural logarithm; null: not wanted */
    int64_t q_stride[3], k_stride[3], v_stride[3], out_stride[3]; /* batch, head, token */
    const int32_t *key_lengths; /* (batch): keys from there on are not seen; null: all are */
    const uint8_t *key_mask;    /* (batch, nk): 0 hides a key; null: none is hidden */
    int64_t key_mask_stride;    /* from one batch to the next; 0: the same for all */
    const void *bias;           /* (batch, heads, nq, nk), added to the scaled scores; null: none */
    uint32_t bias_dtype;        /* MZT_FLOAT32 or that of q */
    float scale;
    int64_t bias_stride[4];     /* batch, head, query, key; 0 where it is broadcast */
    void *workspace;            /* device memory of at least the plan's bytes, 16-byte aligned; null where that is 0 */
    int64_t workspace_bytes;
} MztAttentionArgs;

typedef struct MztAttentionPlan {
    uint32_t size; /* sizeof(MztAttentionPlan) */
    uint32_t abi;
    uint32_t supported; /* 0: another implementation must do it, and `text` says why */
    uint32_t kernel;    /* a number that names the instance, stable within a build */
    int64_t workspace_bytes;
    char text[240]; /* the instance's name, or why there is none */
} MztAttentionPlan;

typedef struct MztDevice {
    uint32_t size;
    uint32_t abi;
    int32_t major, minor; /* compute capability */
    int32_t multiprocessors;
    int32_t shared_bytes; /* that one block may use */
    char name[128];
} MztDevice;

MZT_API uint32_t mzt_abi_version(void);
MZT_API const char *mzt_version(void);       /* of the library, such as 0.1.0 */
MZT_API const char *mzt_architectures(void); /* "sm_75 sm_80 ... compute_120" as compiled in */
MZT_API const char *mzt_last_error(void);    /* of the calling thread; empty when the last call was well */

MZT_API MztStatus mzt_driver(int32_t *version, int32_t *devices); /* 13000 is 13.0; MZT_NO_DEVICE without a driver */
MZT_API MztStatus mzt_device(int32_t ordinal, MztDevice *device);

/* Which kernel would run on that device, and what it needs; never touches the tensors. */
MZT_API MztStatus mzt_attention_plan(const MztAttentionArgs *args, int32_t device, MztAttentionPlan *plan);
/* Queue the attention on a stream of the device that is current. */
MZT_API MztStatus mzt_attention_forward(const MztAttentionArgs *args, int32_t device, void *stream);

#ifdef __cplusplus
}
#endif

#endif
