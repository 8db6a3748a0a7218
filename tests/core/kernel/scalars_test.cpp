// Numbers that ops take from whoever calls a written kernel: read, changed, and compared with formulas that are told of them.
#include <catch2/catch.hpp>

#include <string>

#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/scalars.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

/// A kernel of one row sum, with these attributes.
std::string row_sum(const std::string& attributes) {
  std::string text = R"({"schema": "heddle.kernel/1", "name": "sums", "reference": "S = sum(X) * weight",
  "params": [{"name": "N", "value": 64}],
  "tensors": [{"name": "X", "dtype": "f32", "shape": ["N", 64], "role": "input"}, {"name": "S", "dtype": "f32", "shape": ["N"], "role": "output"}],
  "loop": {"variable": "i", "trips": "N / 64"},
  "values": [{"name": "x", "dtype": "f32", "shape": [64, 64], "space": "register"}],
  "body": [{"name": "load", "kind": "load", "tensor": "X", "at": ["i*64", 0], "out": ["x"]},
           {"name": "sum", "kind": "reduce_sum", "in": ["x"], "out": ["s"], "attrs": {ATTRIBUTES}},
           {"name": "store", "kind": "store", "in": ["s"], "tensor": "S", "at": ["i*64"]}]})";
  text.replace(text.find("ATTRIBUTES"), 10, attributes);
  return text;
}

std::string said(const std::string& attributes) {
  const auto kernel = parse_kernel(row_sum(attributes), "sums.json");
  return kernel ? "" : to_string(kernel.error());
}

}  // namespace

TEST_CASE("an op's factor may be an argument, times a number", "[core]") {
  const Kernel kernel = parse_kernel(row_sum(R"("argument": "weight * 4", "scale": "2")"), "sums.json").value();
  CHECK(scalars_of(kernel, {}) == ScalarValues{{"weight", 0.5}});
  const Kernel other = with_scalars(kernel, {{"weight", 3}}).value();
  CHECK(scalars_of(other, {}) == ScalarValues{{"weight", 3.0}});
  CHECK(other.body[1].attrs.at("scale") == Attr(std::string("12")));
}

TEST_CASE("arguments that cannot be understood are faults of the file", "[core]") {
  CHECK(said(R"("argument": "weight", "scale": "2")") == "");
  CHECK(said(R"("argument": "weight * -4", "scale": "2")")
            .find("/body/1/attrs/argument: expected a name, or a name times a positive number (\"scale * 1.44269504\")") !=
        std::string::npos);
  CHECK(said(R"("argument": "2 * weight", "scale": "2")").find("expected a name") != std::string::npos);
  CHECK(said(R"("argument": "weight")").find("'sum' has no number in its place (add \"scale\"") != std::string::npos);
  CHECK(said(R"("argument": "N", "scale": "2")").find("'N' is a parameter, a whole number") != std::string::npos);
  CHECK(said(R"("argument": "weight", "scale": "0")").find("'weight' would be 0, expected 1e-09 to 1000000") != std::string::npos);
  CHECK(said(R"("argument": 3, "scale": "2")").find("expected a string") != std::string::npos);
}

TEST_CASE("numbers for arguments that a kernel does not have, or beyond their bounds, are refused", "[core]") {
  const Kernel kernel = load_kernel("attention_forward_hopper").value();
  CHECK(to_string(with_scalars(kernel, {{"scal", 1}}).error()).find("no argument 'scal' (it has scale)") != std::string::npos);
  CHECK(to_string(with_scalars(kernel, {{"scale", -1}}).error()).find("scale is -1, expected 1e-09 to 1000000") != std::string::npos);
  CHECK(to_string(with_scalars(load_kernel("gemm_hopper").value(), {{"scale", 1}}).error()).find("nor any other") != std::string::npos);
}

TEST_CASE("every shipped attention has the factor of its softmax as an argument, and computes with any", "[core]") {
  const Scope small{{"HEADS", 1}, {"Q_LEN", 64}, {"KV_LEN", 192}};
  const Scope varlen{{"SEQUENCES", 2}, {"HEADS", 1}, {"MAX_Q", 64}, {"MAX_KV", 100}, {"TOTAL_Q", 100}, {"TOTAL_KV", 150}};
  int with = 0;
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const Kernel kernel = load_kernel(entry.name).value();
    Scope params;
    for (const Param& p : kernel.params) params[p.name] = p.value;
    if (scalars_of(kernel, params).empty()) continue;
    ++with;
    INFO(entry.name);
    Scope sizes;
    for (const auto& [name, value] : kernel.find_param("SEQUENCES") ? varlen : small)
      if (kernel.find_param(name)) sizes[name] = value;
    if (kernel.find_tensor("rowptr") || kernel.find_tensor("pages")) sizes.clear();
    const auto report = evaluate(with_scalars(kernel, {{"scale", 0.2}}).value(), sizes);
    REQUIRE(report.ok());
    for (const TensorComparison& tensor : report->tensors) UNSCOPED_INFO(tensor.tensor << ": worst " << tensor.worst);
    CHECK(report->pass);
  }
  CHECK(with == 26);
}
