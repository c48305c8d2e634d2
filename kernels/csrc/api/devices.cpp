#include "devices.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "last_error.h"

namespace mezzotint {

namespace {

constexpr int kRemembered = 64;  // devices with a higher ordinal are queried each time

struct Remembered {
    std::atomic<bool> known{false};
    cuda::Attributes attributes;
};

Remembered remembered[kRemembered];
std::mutex remembering;

MztStatus too_old(int version) {
    return fail(MZT_DRIVER_TOO_OLD, "the NVIDIA driver is for CUDA %d.%d, and this library needs %d.%d: update the driver",
                version / 1000, version % 1000 / 10, cuda::runtime_version() / 1000,
                cuda::runtime_version() % 1000 / 10);
}

MztStatus ask_device(int ordinal, cuda::Attributes& attributes) {
    int version, devices;
    if (const MztStatus status = find_driver(version, devices)) return status;
    if (ordinal >= devices) {
        return fail(MZT_NO_DEVICE, "device is %d, and there are %d: give 0 to %d", ordinal, devices, devices - 1);
    }
    if (const int error = cuda::device_attributes(ordinal, attributes)) return cuda_status(error, "a device's attributes");
    return succeed();
}

}  // namespace

int loadable_architecture(int major, int minor, const char* architectures) {
    int machine = 0, portable = 0;
    const int wanted = major * 10 + minor;
    for (const char* word = architectures; word && *word; word = std::strchr(word, ' '), word += word ? 1 : 0) {
        const char* number = std::strchr(word, '_');
        if (!number) break;
        char* end = nullptr;
        const int have = static_cast<int>(std::strtol(number + 1, &end, 10));
        if (std::strncmp(word, "compute_", 8) == 0) {
            if (have <= wanted && have > portable) portable = have;
        } else if (*end == 'a' ? have == wanted : have / 10 == major && have <= wanted) {
            if (have > machine) machine = have;  // code for exactly this one (a), or an earlier minor version
        }
    }
    return machine ? machine : portable;
}

MztStatus find_driver(int& version, int& devices) {
    version = devices = 0;
    if (const int error = cuda::driver_version(version)) return cuda_status(error, "the driver's version");
    if (version == 0) {
        return fail(MZT_NO_DEVICE, "there is no NVIDIA driver here: install one, or run without the CUDA kernels");
    }
    const int error = cuda::device_count(devices);
    if (error == cuda::kInsufficientDriver) return too_old(version);
    if (error != 0 && error != cuda::kNoDevice) return cuda_status(error, "the number of devices");
    if (error == cuda::kNoDevice || devices == 0) {
        devices = 0;
        return fail(MZT_NO_DEVICE, "the NVIDIA driver (CUDA %d.%d) has no device to use: see nvidia-smi, and "
                    "CUDA_VISIBLE_DEVICES if it is set", version / 1000, version % 1000 / 10);
    }
    return succeed();
}

MztStatus find_device(int ordinal, cuda::Attributes& attributes) {
    if (ordinal < 0) return fail(MZT_INVALID_ARGUMENT, "device is %d: give 0 or more", ordinal);
    const bool keep = ordinal < kRemembered;
    if (keep && remembered[ordinal].known.load(std::memory_order_acquire)) {
        attributes = remembered[ordinal].attributes;
        return succeed();
    }
    if (const MztStatus status = ask_device(ordinal, attributes)) return status;
    if (keep) {
        const std::lock_guard<std::mutex> lock(remembering);
        if (!remembered[ordinal].known.load(std::memory_order_relaxed)) {
            remembered[ordinal].attributes = attributes;
            remembered[ordinal].known.store(true, std::memory_order_release);
        }
    }
    return MZT_OK;
}

MztStatus require_current(int ordinal) {
    int current = 0;
    if (const int error = cuda::current_device(current)) return cuda_status(error, "the current device");
    if (current == ordinal) return MZT_OK;
    return fail(MZT_INVALID_ARGUMENT, "device is %d, and the thread's current device is %d: make it the current one first",
                ordinal, current);
}

DeviceFacts facts_of(const cuda::Attributes& attributes) {
    DeviceFacts facts;
    facts.architecture = loadable_architecture(attributes.major, attributes.minor, mzt_architectures());
    facts.multiprocessors = attributes.multiprocessors;
    facts.shared_bytes = attributes.shared_bytes;
    return facts;
}

MztStatus cuda_status(int error, const char* what) {
    if (error == cuda::kNoKernelImage || error == cuda::kUnsupportedPtx) {
        return fail(MZT_UNSUPPORTED, "%s: %s (CUDA error %d); this library has %s", what, cuda::error_text(error), error,
                    mzt_architectures());
    }
    if (error == cuda::kInsufficientDriver) {
        int version = 0;
        cuda::driver_version(version);
        return too_old(version);
    }
    if (error == cuda::kNoDevice || error == cuda::kInvalidDevice) {
        return fail(MZT_NO_DEVICE, "%s: %s (CUDA error %d)", what, cuda::error_text(error), error);
    }
    return fail(MZT_LAUNCH_FAILED, "%s: %s (CUDA error %d)", what, cuda::error_text(error), error);
}

}  // namespace mezzotint
