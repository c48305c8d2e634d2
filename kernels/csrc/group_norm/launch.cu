// Queueing the three passes of GroupNorm: no allocation, no waiting, no default stream.
#include <cuda_runtime.h>

#include "group_norm.h"
#include "join.h"
#include "measure.h"
#include "passes.h"
#include "plan.h"

namespace mezzotint {

namespace {

static_assert(group_norm::kMeasureBytes <= 48 * 1024, "more shared memory would have to be asked for");

cudaError_t queue(Entry entry, int64_t blocks, int threads, int shared_bytes, group_norm::GroupNormParams& params,
                  void* stream) {
    void* arguments[] = {&params};
    return cudaLaunchKernel(entry, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), arguments,
                            shared_bytes, static_cast<cudaStream_t>(stream));
}

}  // namespace

int launch_group_norm(const MztGroupNormArgs& args, void* stream) {
    using namespace group_norm;
    GroupNormParams params = params_of(args);
    const Passes passes = passes_of(args.dtype, args.silu != 0);
    if (const cudaError_t error = queue(passes.measure, blocks_of(args), kThreads, kMeasureBytes, params, stream)) {
        return error;
    }
    if (const cudaError_t error =
            queue(passes.join, args.batch * args.groups, kJoinThreads, kJoinBytes, params, stream)) {
        return error;
    }
    return queue(passes.normalize, blocks_of(args), kThreads, 0, params, stream);
}

}  // namespace mezzotint
