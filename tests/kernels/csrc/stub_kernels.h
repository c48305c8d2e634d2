// The kernels that the library has registered, as the code in its fat binary describes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace stub {

struct Kernel {
    std::string name;        // as it is written in C++
    int most_threads = 0;    // of a block; 0: not said
    int parameters = 0;      // how many
    int bytes = 0;           // of the first
    std::map<int, int> raised;  // the shared memory of a block, by device, where more was asked for

    int allowed(int device) const {
        const auto found = raised.find(device);
        return found == raised.end() ? 48 * 1024 : found->second;
    }
    void allow(int device, int value) { raised[device] = value; }
};

// Null where nothing was registered under that address.
Kernel* find_kernel(const void* entry);

int count_kernels();

}  // namespace stub
