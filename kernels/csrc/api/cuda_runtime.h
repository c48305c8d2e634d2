// The few questions that the API asks of CUDA, as plain functions: tests link answers of their own in their place.
#pragma once

namespace mezzotint {
namespace cuda {

// Errors that are told apart; every function below returns 0 or one of CUDA's numbers.
constexpr int kInsufficientDriver = 35;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kNoKernelImage = 209;
constexpr int kUnsupportedPtx = 222;

struct Attributes {
    int major, minor;
    int multiprocessors;
    int shared_bytes;  // that one block may use
};

int driver_version(int& version);  // 0 without a driver, which is no error
int device_count(int& count);
int current_device(int& ordinal);
int device_attributes(int ordinal, Attributes& attributes);
int device_name(int ordinal, char* name, int size);
const char* error_text(int error);
int runtime_version();  // what the library is linked with

}  // namespace cuda
}  // namespace mezzotint
