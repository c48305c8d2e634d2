// Written by `python -m kernel_build record`: the fastest instance of each class of problems, as cards were swept.
// Where it says nothing, choose.cpp estimates: no card has been swept yet.
#include "choose.h"

namespace mezzotint {

const Swept kSwept[] = {
    {},
};

}  // namespace mezzotint
