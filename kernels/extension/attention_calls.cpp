// Attention as called from Python: from tensors to one call of the library, with cached arguments per kind of call.
//
// An extension using the limited API of Python 3.11. It reads tensors through DLPack's C exchange API, so it does not
// link torch, and calls mzt_attention_forward by address, so it does not link CUDA. Calls that it cannot handle return
// None, leaving them to the caller; it raises only for wrong arguments.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <cstring>
#include <new>
#include <unordered_map>

#include "../csrc/api.h"
#include "dlpack.h"

namespace {

using namespace mezzotint;

constexpr int kAxes = 4;
constexpr int kTensors = 6;  // q, k, v, bias, key mask, key lengths
constexpr int kNumbers = 2;  // scale, which may be None, and flags, after the tensors
constexpr int kWords = kNumbers + 1 + kTensors * (3 + 2 * kAxes);
constexpr uintptr_t kAlignment = 16;  // bytes; a tensor's offset within them is part of its kind
constexpr size_t kMostKinds = 4096;

using Forward = MztStatus (*)(const MztAttentionArgs*, int32_t, void*);

// Everything about a call except its tensors' addresses.
struct Kind {
    int count = 0;
    int64_t words[kWords];

    void add(int64_t word) { words[count++] = word; }
    bool operator==(const Kind& other) const {
        return count == other.count && std::memcmp(words, other.words, count * sizeof(int64_t)) == 0;
    }
};

struct Hash {
    size_t operator()(const Kind& kind) const {
        uint64_t state = kind.count;
        for (int i = 0; i < kind.count; ++i) {
            state = (state ^ static_cast<uint64_t>(kind.words[i])) * 0x9E3779B97F4A7C15u;
            state ^= state >> 32;
        }
        return static_cast<size_t>(state);
    }
};

struct Views {
    dlpack::Tensor each[kTensors];
    bool given[kTensors];
};

struct Calls {
    PyObject_HEAD
    Forward forward;
    const dlpack::ExchangeApi* api;
    PyTypeObject* tensor_type;
    PyObject* empty_like;
    std::unordered_map<Kind, MztAttentionArgs, Hash>* kinds;
};

char* begin_of(const dlpack::Tensor& tensor) { return static_cast<char*>(tensor.data) + tensor.byte_offset; }

// Get a view of a tensor; false if that is impossible. A subclass might not be backed by memory, so it is not accepted.
bool view(const Calls& calls, PyObject* object, dlpack::Tensor& tensor) {
    if (Py_TYPE(object) != calls.tensor_type) return false;
    if (calls.api->view(object, &tensor) == 0) return tensor.axes <= kAxes;
    PyErr_Clear();
    return false;
}

void describe(const dlpack::Tensor& tensor, Kind& kind) {
    kind.add(static_cast<int64_t>(tensor.device.type) << 32 | static_cast<uint32_t>(tensor.device.id));
    kind.add(static_cast<int64_t>(tensor.axes) << 32 | tensor.dtype.code << 24 | tensor.dtype.bits << 16 |
             tensor.dtype.lanes);
    kind.add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(begin_of(tensor)) % kAlignment));
    for (int axis = 0; axis < tensor.axes; ++axis) {
        kind.add(tensor.shape[axis]);
        kind.add(tensor.strides[axis]);
    }
}

// Get the kind of a call (q, k, v, bias, key_mask, key_lengths, scale, flags); false if none, perhaps with an error.
bool read(const Calls& calls, PyObject* const* arguments, Views& views, Kind& kind) {
    for (int i = 0; i < kTensors; ++i) {
        views.given[i] = arguments[i] != Py_None;
        if (!views.given[i]) {
            kind.add(-1);
            continue;
        }
        if (!view(calls, arguments[i], views.each[i])) return false;
        describe(views.each[i], kind);
    }
    if (!views.given[0] || !views.given[1] || !views.given[2] || views.each[0].axes != kAxes) return false;
    const double scale = arguments[kTensors] == Py_None ? 0.0 : PyFloat_AsDouble(arguments[kTensors]);
    int64_t bits;
    std::memcpy(&bits, &scale, sizeof bits);
    kind.add(bits);
    kind.add(arguments[kTensors] == Py_None);
    kind.add(PyLong_AsLong(arguments[kTensors + 1]));
    return !PyErr_Occurred();
}

bool lies_as(const dlpack::Tensor& out, const dlpack::Tensor& q, const int64_t* strides) {
    if (out.axes != kAxes || out.device.type != q.device.type || out.device.id != q.device.id) return false;
    if (std::memcmp(&out.dtype, &q.dtype, sizeof out.dtype) != 0) return false;
    for (int axis = 0; axis < kAxes; ++axis) {
        if (out.shape[axis] != q.shape[axis]) return false;
        if (out.strides[axis] != (axis == kAxes - 1 ? 1 : strides[axis])) return false;
    }
    return true;
}

void point(MztAttentionArgs& args, const Views& views, const dlpack::Tensor& out) {
    const auto address = [&](int i) -> void* { return views.given[i] ? begin_of(views.each[i]) : nullptr; };
    args.q = address(0);
    args.k = address(1);
    args.v = address(2);
    args.bias = address(3);
    args.key_mask = static_cast<const uint8_t*>(address(4));
    args.key_lengths = static_cast<const int32_t*>(address(5));
    args.out = begin_of(out);
}

PyObject* left_to_the_caller() {
    PyErr_Clear();
    Py_RETURN_NONE;
}

// attend(q, k, v, bias, key_mask, key_lengths, scale, flags): the output, or None if nothing was launched.
PyObject* attend(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const Calls& calls = *reinterpret_cast<Calls*>(self);
    if (count != kTensors + kNumbers) return PyErr_Format(PyExc_TypeError, "attend takes 8 arguments, and got %zd", count);
    Views views;
    Kind kind;
    if (!read(calls, arguments, views, kind)) return left_to_the_caller();
    const auto found = calls.kinds->find(kind);
    if (found == calls.kinds->end()) Py_RETURN_NONE;
    MztAttentionArgs args = found->second;  // a copy: while others hold the lock, cached entries may disappear
    const dlpack::Device device = views.each[0].device;
    PyObject* out = PyObject_CallFunctionObjArgs(calls.empty_like, arguments[0], nullptr);
    if (!out) return nullptr;  // for example out of memory
    dlpack::Tensor made;
    void* stream = nullptr;
    if (!view(calls, out, made) || !lies_as(made, views.each[0], args.out_stride) ||
        calls.api->current_stream(device.type, device.id, &stream) != 0) {
        Py_DECREF(out);
        return left_to_the_caller();
    }
    point(args, views, made);
    MztStatus status;
    Py_BEGIN_ALLOW_THREADS  // a launch blocks if the GPU's queue is full
    status = calls.forward(&args, device.id, stream);
    Py_END_ALLOW_THREADS
    if (status == MZT_OK) return out;
    Py_DECREF(out);
    Py_RETURN_NONE;
}

// remember(the same, arguments): later calls of this kind use these arguments, an MztAttentionArgs in bytes.
PyObject* remember(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    Calls& calls = *reinterpret_cast<Calls*>(self);
    if (count != kTensors + kNumbers + 1) {
        return PyErr_Format(PyExc_TypeError, "remember takes 9 arguments, and got %zd", count);
    }
    char* bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(arguments[count - 1], &bytes, &size)) return nullptr;
    MztAttentionArgs args;
    if (size != sizeof args) {
        return PyErr_Format(PyExc_ValueError, "the arguments have %zd bytes, and MztAttentionArgs has %zd", size,
                            static_cast<Py_ssize_t>(sizeof args));
    }
    std::memcpy(&args, bytes, sizeof args);
    args.lse = nullptr;
    args.workspace = nullptr;
    args.workspace_bytes = 0;
    Views views;
    Kind kind;
    if (!read(calls, arguments, views, kind)) return left_to_the_caller();
    try {
        if (calls.kinds->size() >= kMostKinds) calls.kinds->clear();
        (*calls.kinds)[kind] = args;
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

const dlpack::ExchangeApi* exchange_api(PyObject* type) {
    PyObject* capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    if (!capsule) return nullptr;
    const auto* api = static_cast<dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule, dlpack::kCapsule));
    Py_DECREF(capsule);  // its target lives as long as the framework
    while (api && api->major > dlpack::kMajorVersion) api = api->older;
    if (api && api->major == dlpack::kMajorVersion && api->view && api->current_stream) return api;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_AttributeError, "the tensors' exchange API is not of DLPack 1");
    return nullptr;
}

// AttentionCalls(address of mzt_attention_forward, tensor type, its empty_like)
PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
    unsigned long long address;
    PyObject *tensor_type, *empty_like;
    if (!PyArg_ParseTuple(arguments, "KOO", &address, &tensor_type, &empty_like)) return nullptr;
    if (!PyType_Check(tensor_type)) return PyErr_Format(PyExc_TypeError, "%R is no type of tensors", tensor_type);
    const dlpack::ExchangeApi* api = exchange_api(tensor_type);
    if (!api) return nullptr;
    auto* kinds = new (std::nothrow) std::unordered_map<Kind, MztAttentionArgs, Hash>;
    if (!kinds) return PyErr_NoMemory();
    auto* self = reinterpret_cast<Calls*>(PyType_GenericAlloc(type, 0));
    if (!self) {
        delete kinds;
        return nullptr;
    }
    self->forward = reinterpret_cast<Forward>(static_cast<uintptr_t>(address));
    self->api = api;
    self->kinds = kinds;
    Py_INCREF(tensor_type);
    self->tensor_type = reinterpret_cast<PyTypeObject*>(tensor_type);
    Py_INCREF(empty_like);
    self->empty_like = empty_like;
    return reinterpret_cast<PyObject*>(self);
}

void drop(PyObject* object) {
    auto* self = reinterpret_cast<Calls*>(object);
    PyTypeObject* type = Py_TYPE(object);
    delete self->kinds;
    Py_XDECREF(reinterpret_cast<PyObject*>(self->tensor_type));
    Py_XDECREF(self->empty_like);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(reinterpret_cast<PyObject*>(type));
}

template <class Function>
PyCFunction as_method(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"attend", as_method(attend), METH_FASTCALL, "The output of a call of a kind that is remembered, else None."},
    {"remember", as_method(remember), METH_FASTCALL, "Remember the arguments of calls of a kind."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};

PyType_Spec specification = {"attention_calls.AttentionCalls", sizeof(Calls), 0, Py_TPFLAGS_DEFAULT, slots};

PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "attention_calls", nullptr, -1, nullptr, nullptr, nullptr,
                                 nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_attention_calls(void) {
    PyObject* module = PyModule_Create(&module_definition);
    if (!module) return nullptr;
    PyObject* type = PyType_FromSpec(&specification);
    if (type && PyModule_AddObject(module, "AttentionCalls", type) == 0) return module;
    Py_XDECREF(type);
    Py_DECREF(module);
    return nullptr;
}
