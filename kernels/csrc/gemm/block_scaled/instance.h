// A kernel that was compiled: its format, and what gemm's instances have.
#pragma once

#include "../../block_scaled_api.h"
#include "../instance.h"

namespace mezzotint::block_scaled {

using gemm::Entry;

struct Instance {
    MztBlockFormat format;
    gemm::Instance tile;
};

struct InstanceList {
    const Instance* first;
    int count;
};

// Those of all files, numbered from 0 (instances/all.cpp).
int instance_lists();
InstanceList instance_list(int number);

}  // namespace mezzotint::block_scaled
