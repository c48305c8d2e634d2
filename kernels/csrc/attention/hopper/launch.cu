// Maps of the tensors, which the driver makes on the host, and the kernel's launch: nothing is allocated or waited for.
#include <cuda.h>
#include <cuda_runtime.h>

#include "../../shared_memory.h"
#include "../choose.h"
#include "maps.h"

namespace mezzotint {

namespace {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap), "what the driver writes");

using Encode = decltype(&cuTensorMapEncodeTiled);

// The driver's function, asked for once; null where it has none.
Encode find_encode() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    constexpr unsigned since = 12000;  // the version that brought it
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, since,
                                                               cudaEnableDefault, &found);
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
}

bool make_map(TensorMap& map, const Tiles& tiles, Encode encode) {
    const cuuint32_t box[4] = {tiles.columns, tiles.rows, 1, 1}, steps[4] = {1, 1, 1, 1};
    const bool widest = tiles.columns * 2 == kWidestRow;
    return encode(reinterpret_cast<CUtensorMap*>(&map),
                  tiles.is_bfloat16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4,
                  const_cast<void*>(tiles.first), tiles.sizes, tiles.strides, box, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, widest ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

int launch_hopper(const Instance& instance, const MztAttentionArgs& args, void* stream) {
    static const Encode encode = find_encode();
    if (!encode) return cudaErrorNotSupported;
    HopperParams params = hopper_params(instance, args);
    const HopperTiles tiles = tiles_of(instance, args);
    if (!make_map(params.q, tiles.q, encode) || !make_map(params.k, tiles.k, encode) ||
        !make_map(params.v, tiles.v, encode)) {
        return cudaErrorInvalidValue;
    }
    void* arguments[] = {&params};
    const auto blocks = static_cast<unsigned>(blocks_of(instance, args, params.forward.tiles_per_block));
    return cudaLaunchKernel(instance.entry, dim3(blocks), dim3(static_cast<unsigned>(instance.threads)), arguments,
                            instance.shared_bytes, static_cast<cudaStream_t>(stream));
}

}  // namespace mezzotint
