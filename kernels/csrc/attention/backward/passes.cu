#include "passes.h"

#include "rows.h"

namespace mezzotint {
namespace backward_pass {

#ifdef MEZZOTINT_EMULATOR

template <typename Element>
void prepare_rows(const void* params, void*) {
    prepare_rows_block<Element>(*static_cast<const BackwardParams*>(params));
}
template <typename Element>
void finish_queries(const void* params, void*) {
    finish_queries_block<Element>(*static_cast<const BackwardParams*>(params));
}

template <typename Element>
Passes passes() {
    return {&prepare_rows<Element>, &finish_queries<Element>};
}

#else

template <typename Element>
__global__ void __launch_bounds__(kPassThreads) prepare_rows(const __grid_constant__ BackwardParams params) {
    prepare_rows_block<Element>(params);
}
template <typename Element>
__global__ void __launch_bounds__(kPassThreads) finish_queries(const __grid_constant__ BackwardParams params) {
    finish_queries_block<Element>(params);
}

template <typename Element>
Passes passes() {
    return {reinterpret_cast<Entry>(&prepare_rows<Element>), reinterpret_cast<Entry>(&finish_queries<Element>)};
}

#endif

Passes passes_of(MztDtype dtype) { return dtype == MZT_FLOAT16 ? passes<float16>() : passes<bfloat16>(); }

}  // namespace backward_pass
}  // namespace mezzotint
