// cuDNN's graph interface: descriptors are kept as they are given, and an execution plan computes its graph operation by operation
// on the host's memory, so that a graph that says something else than attention gives something else. As cuDNN 9.19 does, it has
// no engine for a softmax without statistics. HEDDLE_FAKE_CUDNN says how it misbehaves:
//
//   ok           everything works; the form with one operation takes 90 us, the pattern 95
//   old          it is 8.9.7
//   oldest       it is 9.0.0, which has no operation for all of it
//   no-start     no handle can be made
//   no-engine    the heuristics recommend nothing
//   no-plan      what they recommend cannot be made a plan
//   refuse       no plan can be executed
//   tires        plans can be executed fifteen times
//   wrong        one element is wrong
//   fault        the device faults
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "codegen/run/cudnn.h"
#include "tests/gpu/fake/fake.h"

using namespace heddle::codegen::cudnn;

namespace {

constexpr int kNotSupported = 3000, kBadParameter = 2000, kNotFinished = 2004, kNotInitialized = 1001, kExecutionFailed = 5000;

struct Node {
  int kind = 0;
  bool finished = false;
  std::map<int, std::vector<unsigned char>> attributes;

  template <class T>
  std::vector<T> all(int attribute) const {
    const auto at = attributes.find(attribute);
    std::vector<T> values(at == attributes.end() ? 0 : at->second.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), at->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T = std::int64_t>
  T one(int attribute) const {
    T value{};
    if (const auto at = attributes.find(attribute); at != attributes.end() && at->second.size() >= sizeof value)
      std::memcpy(&value, at->second.data(), sizeof value);
    return value;
  }
  Node* node(int attribute) const { return one<Node*>(attribute); }
};

std::string last_error;
long executions = 0;

std::string fault() {
  const char* text = std::getenv("HEDDLE_FAKE_CUDNN");
  return text ? text : "ok";
}
int fail(int status, const std::string& why) {
  last_error = "Error: fake; Reason: " + why + "\n";
  return status;
}

float rounded(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// A tensor's elements in row-major order of its extents.
struct Values {
  std::vector<std::int64_t> extents;
  std::vector<float> data;
  float& at(const std::vector<std::int64_t>& index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < extents.size(); ++d)
      place = place * extents[d] + (extents[d] == 1 ? 0 : index[d]);  // extents of 1 are for all
    return data[static_cast<std::size_t>(place)];
  }
};

template <class F>
void every(const std::vector<std::int64_t>& extents, const F& f) {
  std::vector<std::int64_t> index(extents.size(), 0);
  while (true) {
    f(index);
    std::size_t d = extents.size();
    while (d > 0 && ++index[d - 1] == extents[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

struct Machine {
  std::map<std::int64_t, void*> memory;  ///< of the variant pack, by id
  std::map<Node*, Values> values;

  char* place(Node* tensor, const std::vector<std::int64_t>& index) {
    const auto strides = tensor->all<std::int64_t>(kTensorStrides);
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    return static_cast<char*>(memory.at(tensor->one(kTensorId))) + at * (tensor->one<int>(kTensorType) == kBf16 ? 2 : 4);
  }
  Values& of(Node* tensor) {
    Values& v = values[tensor];
    if (!v.data.empty()) return v;
    v.extents = tensor->all<std::int64_t>(kTensorExtents);
    std::size_t size = 1;
    for (const std::int64_t extent : v.extents) size *= static_cast<std::size_t>(extent);
    v.data.assign(size, 0);
    if (tensor->one<bool>(kTensorVirtual)) return v;
    const int type = tensor->one<int>(kTensorType);
    every(v.extents, [&](const auto& index) {
      std::uint32_t bits = 0;
      const char* from = place(tensor, index);
      std::memcpy(&bits, from, type == kBf16 ? 2 : 4);
      if (type == kBf16) bits <<= 16;
      if (type == kInt32)
        v.at(index) = static_cast<float>(static_cast<std::int32_t>(bits));
      else
        std::memcpy(&v.at(index), &bits, 4);
    });
    return v;
  }
  void done(Node* tensor, Values& v) {
    if (tensor->one<int>(kTensorType) != kBf16) return;
    for (float& x : v.data) x = rounded(x);
    if (tensor->one<bool>(kTensorVirtual)) return;
    every(v.extents, [&](const auto& index) { std::memcpy(place(tensor, index), reinterpret_cast<char*>(&v.at(index)) + 2, 2); });
  }

  void product(Node* a, Node* b, Node* c) {
    Values &x = of(a), &y = of(b), &z = of(c);
    every(z.extents, [&](const auto& index) {
      double sum = 0;
      for (std::int64_t k = 0; k < x.extents[3]; ++k)
        sum += static_cast<double>(x.at({index[0], index[1], index[2], k})) * y.at({index[0], index[1], k, index[3]});
      z.at(index) = static_cast<float>(sum);
    });
    done(c, z);
  }
  void pointwise(Node* operation) {
    Node* how = operation->node(kPointwiseOf);
    Node* to = operation->node(kPointwiseY);
    const int mode = how->one<int>(kPointwiseMode);
    const auto axis = static_cast<std::size_t>(how->one(kPointwiseAxis));
    Values &x = of(operation->node(kPointwiseX)), &y = of(to);
    Values* b = operation->node(kPointwiseB) ? &of(operation->node(kPointwiseB)) : nullptr;
    Values* t = operation->node(kPointwiseT) ? &of(operation->node(kPointwiseT)) : nullptr;
    every(y.extents, [&](const auto& index) {
      const float v = x.at(index), w = b ? b->at(index) : 0;
      float& r = y.at(index);
      switch (mode) {
        case kAdd: r = v + w; break;
        case kMul: r = v * w; break;
        case kDiv: r = v / w; break;
        case kSub: r = v - w; break;
        case kExp: r = std::exp(v); break;
        case kLog: r = std::log(v); break;
        case kCompareGe: r = v >= w; break;
        case kIndex: r = static_cast<float>(index[axis]); break;
        case kSelect: r = t->at(index) != 0 ? v : w; break;
        default: r = NAN;
      }
    });
    done(to, y);
  }
  void reduction(Node* operation) {
    const bool most = operation->node(kReductionOf)->one<int>(kReductionOperator) == kReduceMax;
    Values &x = of(operation->node(kReductionX)), &y = of(operation->node(kReductionY));
    std::fill(y.data.begin(), y.data.end(), most ? -INFINITY : 0.0f);
    every(x.extents, [&](const auto& index) {
      float& r = y.at(index);
      r = most ? std::max(r, x.at(index)) : r + x.at(index);
    });
  }
  void sdpa(Node* operation) {
    Values &q = of(operation->node(kSdpaQ)), &k = of(operation->node(kSdpaK)), &v = of(operation->node(kSdpaV)),
           &o = of(operation->node(kSdpaO));
    const float scale = of(operation->node(kSdpaScale)).data[0];
    for (std::int64_t h = 0; h < q.extents[1]; ++h)
      for (std::int64_t row = 0; row < q.extents[2]; ++row) {
        std::vector<float> p;
        for (std::int64_t j = 0; j < k.extents[2]; ++j) {
          float sum = 0;
          for (std::int64_t d = 0; d < q.extents[3]; ++d) sum += q.at({0, h, row, d}) * k.at({0, h, j, d});
          p.push_back(sum * scale);
        }
        const float most = *std::max_element(p.begin(), p.end());
        float total = 0;
        for (float& x : p) total += x = std::exp(x - most);
        for (std::int64_t d = 0; d < v.extents[3]; ++d) {
          float sum = 0;
          for (std::int64_t j = 0; j < k.extents[2]; ++j) sum += rounded(p[static_cast<std::size_t>(j)] / total) * v.at({0, h, j, d});
          o.at({0, h, row, d}) = sum;
        }
      }
    done(operation->node(kSdpaO), o);
  }
};

bool has_mode(Node* graph, int mode) {
  for (Node* operation : graph->all<Node*>(kGraphOperations))
    if (operation->kind == kPointwiseOperation && operation->node(kPointwiseOf)->one<int>(kPointwiseMode) == mode) return true;
  return false;
}
bool is_one_operation(Node* graph) { return graph->all<Node*>(kGraphOperations).at(0)->kind == kSdpaForward; }

/// Heuristics recommend for what they know, but nothing that could be run.
bool has_engine(Node* graph) {
  return fault() != "no-engine" && (is_one_operation(graph) || (has_mode(graph, kLog) && has_mode(graph, kDiv)));
}

std::map<std::vector<void*>, std::pair<long, Node*>> results;  ///< per set of pointers: writes to memory and plan when they were computed

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return fault() == "old" ? 8907 : fault() == "oldest" ? 90000 : 91900; }
int cudnnCreate(void** handle) {
  if (fault() == "no-start") return fail(kNotInitialized, "the fake has no device");
  return *handle = &results, 0;
}
int cudnnSetStream(void*, void*) { return 0; }
const char* cudnnGetErrorString(int status) {
  return status == kNotSupported      ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == kExecutionFailed ? "CUDNN_STATUS_EXECUTION_FAILED"
         : status == kNotInitialized  ? "CUDNN_STATUS_NOT_INITIALIZED"
                                      : "CUDNN_STATUS_BAD_PARAM";
}
void cudnnGetLastErrorString(char* text, std::size_t size) {
  std::snprintf(text, size, "%s", last_error.c_str());
  last_error.clear();
}
int cudnnBackendCreateDescriptor(int kind, Node** made) {
  if (kind == kSdpaForward && fault() == "oldest") return fail(kNotSupported, "there is no such kind of descriptor");
  return *made = new Node{kind, false, {}}, 0;
}
int cudnnBackendDestroyDescriptor(Node* node) { return delete node, 0; }
int cudnnBackendSetAttribute(Node* node, int attribute, int type, std::int64_t count, const void* values) {
  if (node->finished) return fail(kBadParameter, "it is finished");
  const std::size_t size = type == kBooleanType || type == kCharType                                                      ? 1
                           : type == kInt64Type || type == kPointerType || type == kDescriptorType || type == kHandleType ? 8
                                                                                                                          : 4;
  if (type == kDescriptorType)
    for (std::int64_t k = 0; k < count; ++k)
      if (const Node* part = static_cast<Node* const*>(values)[k]; !part || (!part->finished && part->kind != kEngineConfig))
        return fail(kNotFinished, "a part is not finished");
  const auto* bytes = static_cast<const unsigned char*>(values);
  node->attributes[attribute].assign(bytes, bytes + size * static_cast<std::size_t>(count));
  return 0;
}
int cudnnBackendFinalize(Node* node) {
  if (node->kind == kTensor) {
    const auto extents = node->all<std::int64_t>(kTensorExtents);
    if (extents.size() != 4 || node->all<std::int64_t>(kTensorStrides).size() != 4 || !node->attributes.count(kTensorId) ||
        !node->attributes.count(kTensorType))
      return fail(kBadParameter, "a tensor lacks something");
  }
  if (node->kind == kOperationGraph && !node->attributes.count(kGraphHandle)) return fail(kBadParameter, "a graph lacks a handle");
  if (node->kind == kExecutionPlan && !node->attributes.count(kPlanHandle)) return fail(kBadParameter, "a plan lacks a handle");
  if (node->kind == kExecutionPlan && fault() == "no-plan") return fail(kNotSupported, "the fake makes no plans");
  if (node->kind == kVariantPack && !node->one<void*>(kPackWorkspace)) return fail(kBadParameter, "a workspace is missing");
  return node->finished = true, 0;
}
int cudnnBackendGetAttribute(Node* node, int attribute, int, std::int64_t wanted, std::int64_t* count, void* values) {
  if (attribute == kPlanWorkspace) return *count = 1, *static_cast<std::int64_t*>(values) = 4096, 0;
  if (attribute != kHeuristicsResults) return fail(kBadParameter, "the fake does not know this");
  Node* graph = node->node(kHeuristicsGraph);
  *count = fault() == "no-engine" ? 0 : 1;
  if (wanted < 1) return 0;
  if (!has_engine(graph)) return *count = 0, (void)fail(0, "the fake has nothing for it"), 0;
  Node* config = *static_cast<Node**>(values);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&graph);
  config->attributes[kHeuristicsGraph].assign(bytes, bytes + sizeof graph);
  return 0;
}
int cudnnBackendExecute(void*, Node* plan, Node* pack) {
  const std::string mode = fault();
  ++executions;
  if (mode == "refuse" || (mode == "tires" && executions > 15)) return fail(kExecutionFailed, "the fake executes nothing");
  if (mode == "fault") return fake::pending_fault = fake::kIllegalAddress, 0;
  Node* graph = plan->node(kPlanEngineConfig)->node(kHeuristicsGraph);
  fake::now_us += is_one_operation(graph) ? 90 : 95;
  const auto pointers = pack->all<void*>(kPackPointers);
  if (auto& [writes, last] = results[pointers]; writes == fake::writes && last == plan)
    return 0;
  else
    writes = fake::writes, last = plan;
  Machine machine;
  const auto ids = pack->all<std::int64_t>(kPackIds);
  for (std::size_t k = 0; k < ids.size(); ++k) machine.memory[ids[k]] = pointers[k];
  for (Node* operation : graph->all<Node*>(kGraphOperations)) switch (operation->kind) {
      case kMatmulOperation: machine.product(operation->node(kMatmulA), operation->node(kMatmulB), operation->node(kMatmulC)); break;
      case kPointwiseOperation: machine.pointwise(operation); break;
      case kReductionOperation: machine.reduction(operation); break;
      case kSdpaForward: machine.sdpa(operation); break;
      default: return fail(kNotSupported, "an operation that the fake does not know");
    }
  if (mode == "wrong") static_cast<unsigned char*>(machine.memory.at(4))[1] ^= 0x40;
  return 0;
}
}
