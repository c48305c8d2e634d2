// Queueing the three passes of linear attention: no allocation, no waiting, no default stream.
#include <cuda_runtime.h>

#include "apply.h"
#include "join.h"
#include "linear_attention.h"
#include "passes.h"
#include "plan.h"
#include "summarize.h"

namespace mezzotint {

namespace {

static_assert(linear_attention::kSummarizeBytes <= 48 * 1024 && linear_attention::kApplyBytes <= 48 * 1024,
              "more shared memory would have to be asked for");

cudaError_t queue(Entry entry, int64_t blocks, int threads, int shared_bytes,
                  linear_attention::LinearAttentionParams& params, void* stream) {
    void* arguments[] = {&params};
    return cudaLaunchKernel(entry, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), arguments,
                            shared_bytes, static_cast<cudaStream_t>(stream));
}

}  // namespace

int launch_linear_attention(const MztLinearAttentionArgs& args, const MztAttentionPlan& plan, void* stream) {
    using namespace linear_attention;
    const int32_t splits = static_cast<int32_t>(plan.kernel);
    LinearAttentionParams params = params_of(args, splits);
    const Passes passes = passes_of(args.dtype, args.map);
    const int64_t blocks = summarize_blocks(args, splits);
    if (const cudaError_t error = queue(passes.summarize, blocks, kKeyThreads, kSummarizeBytes, params, stream)) {
        return error;
    }
    if (const cudaError_t error = queue(passes.join, join_blocks(args), kJoinThreads, kJoinBytes, params, stream)) {
        return error;
    }
    return queue(passes.apply, apply_blocks(args), kQueryThreads, kApplyBytes, params, stream);
}

}  // namespace mezzotint
