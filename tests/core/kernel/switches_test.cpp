// Ops and tensors that parameters turn on: where they are off, the kernel is the one that its author would have written without them.
#include <catch2/catch.hpp>

#include "core/formats/kernel_json.h"
#include "core/instance/instance.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/subtile.h"
#include "core/kernel/switches.h"
#include "core/kernel/validate.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

/// Y = X, columns from END on as -1; with SUMS its sums along rows, too.
constexpr const char* kText = R"J({"schema": "heddle.kernel/1", "name": "copies",
  "reference": "Y = X; Z = transpose(sum(X))",
  "params": [{"name": "N", "value": 64}, {"name": "END", "value": 64}, {"name": "SUMS", "value": 0}],
  "tensors": [{"name": "X", "dtype": "f32", "shape": [64, "N"], "role": "input"},
              {"name": "Y", "dtype": "f32", "shape": [64, "N"], "role": "output"},
              {"name": "Z", "dtype": "f32", "shape": [1, 64], "role": "output", "if": "SUMS == 1"}],
  "loop": {"variable": "i", "trips": "ceil_div(N, 32)"
}
,
  "values": [{"name": "x", "dtype": "f32", "shape": [64, 32], "space": "register"}],
  "prologue": [{"name": "zero", "kind": "fill", "out": ["sum"], "attrs": {"value": 0}, "if": "SUMS == 1"}],
  "body": [{"name": "load", "kind": "load", "tensor": "X", "at": [0, "i*32"], "out": ["x"]},
           {"name": "cut", "kind": "mask", "in": ["x"], "out": ["y"], "at": ["END", "i*32"], "attrs": {"value": -1, "before": true},
            "if": "END < N"},
           {"name": "add", "kind": "reduce_sum", "in": ["y", "sum[-1]"], "out": ["sum"], "if": "SUMS == 1"},
           {"name": "store", "kind": "store", "in": ["y"], "tensor": "Y", "at": [0, "i*32"]}],
  "epilogue": [{"name": "store_sum", "kind": "store", "in": ["sum"], "tensor": "Z", "at": [0, 0], "if": "SUMS == 1"}]
})J";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Kernel copies() {
  const auto kernel = parse_kernel(kText, "copies.json");
  if (!kernel) FAIL(to_string(kernel.error()));
  return *kernel;
}

std::string faults_of(const std::string& text) {
  const auto kernel = parse_kernel(text, "copies.json");
  return kernel ? "" : to_string(kernel.error());
}

std::vector<std::string> names(const std::vector<TileOp>& ops) {
  std::vector<std::string> names;
  for (const TileOp& op : ops) names.push_back(op.name);
  return names;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("what a parameter does not turn on is not there, and its input stands for its result", "[core]") {
  const Kernel kernel = copies();
  CHECK(names(kernel.body) == Names{"load", "store"});
  CHECK(kernel.body[1].inputs[0].value == "x");
  CHECK(kernel.prologue.empty());
  CHECK(kernel.epilogue.empty());
  CHECK(kernel.find_tensor("Z") == nullptr);
  CHECK(kernel.values.size() == 1);
  CHECK(validate(kernel).empty());

  const Kernel cut = settled(kernel, {{"END", 40}}).value();
  CHECK(names(cut.body) == Names{"load", "cut", "store"});
  CHECK(cut.body[2].inputs[0].value == "y");

  const Kernel all = settled(cut, {{"END", 40}, {"SUMS", 1}}).value();
  CHECK(names(all.body) == Names{"load", "cut", "add", "store"});
  CHECK(all.find_tensor("Z") != nullptr);
  CHECK(validate(all).empty());

  // From there back again.
  CHECK(names(settled(all, {}).value().body) == Names{"load", "store"});
  CHECK(names(as_in_file(all).body) == names(all.body));
}

TEST_CASE("a kernel that is settled already stays the one that it is", "[core]") {
  const auto kernel = std::make_shared<const Kernel>(copies());
  CHECK(settled(kernel, {{"N", 128}, {"END", 128}}).value() == kernel);
  CHECK(settled(kernel, {{"N", 128}}).value() != kernel);
  const auto gemm = std::make_shared<const Kernel>(load_kernel("gemm_hopper").value());
  CHECK(settled(gemm, {{"M", 1}}).value() == gemm);
  CHECK(gemm->whole == nullptr);
}

TEST_CASE("eval computes with what its parameters turn on", "[core]") {
  const Kernel kernel = copies();
  const auto pass = [&](const Scope& params) { return evaluate(kernel, params).value().pass; };
  CHECK(pass({}));
  CHECK(pass({{"N", 65}, {"END", 65}}));
  CHECK_FALSE(pass({{"END", 63}}));  // one column is another number
  const auto sums = evaluate(kernel, {{"SUMS", 1}});
  REQUIRE(sums.ok());
  CHECK(sums->tensors.size() == 2);
  CHECK(sums->pass);
  CHECK(evaluate(kernel, {{"SUMS", 0}}).value().tensors.size() == 1);
}

TEST_CASE("problem and kernel of an instance have the same ops", "[core]") {
  InstanceSpec spec = spec_of(load_kernel("attention_forward_hopper").value(), load_machine("h100").value());
  for (const Scope& params : {Scope{}, Scope{{"KV_LEN", 8192}}}) {
    spec.params = params;
    const auto instance = make_instance(spec);
    REQUIRE(instance.ok());
    REQUIRE(instance->kernel().body.size() == instance->problem().ops.size());
    for (std::size_t i = 0; i < instance->kernel().body.size(); ++i)
      CHECK(instance->kernel().body[i].name == instance->problem().ops[i].name);
  }
}

TEST_CASE("the text of a kernel keeps what its parameters turn off", "[core]") {
  const Kernel kernel = copies();
  CHECK(kernel_text(kernel, kText) == kernel_text(settled(kernel, {{"SUMS", 1}}).value(), kText));
  const std::string text = kernel_text(kernel);
  CHECK(text.find("\"END < N\"") != std::string::npos);
  CHECK(names(settled(parse_kernel(text, "again.json").value(), {{"END", 40}, {"SUMS", 1}}).value().body) ==
        Names{"load", "cut", "add", "store"});
}

TEST_CASE("whoever reads what is not always there is told so", "[core]") {
  CHECK(faults_of(kText).empty());
  CHECK(faults_of(replaced(kText, R"("at": [0, 0], "if": "SUMS == 1")", R"("at": [0, 0])")) ==
        "copies.json: /epilogue/0/in/0: 'sum' is there only if SUMS == 1, and 'store_sum' is there always (give 'store_sum' the same "
        "\"if\")\n"
        "copies.json: /epilogue/0/tensor: tensor 'Z' is there only if SUMS == 1, and 'store_sum' is there always (give 'store_sum' the "
        "same \"if\")");
  CHECK(faults_of(replaced(kText, R"("if": "END < N")", R"("if": "i < N")")).find("/body/1/if: unknown name 'i'") != std::string::npos);
  CHECK(faults_of(replaced(kText, R"("if": "END < N")", R"J("if": "1 / (N - 64)")J")).find("/body/1/if: ") != std::string::npos);
}

TEST_CASE("faults of an op name its place in the file", "[core]") {
  // Loads from global memory into registers have no rule here: `store` is the second op that is there, and the fourth of the file.
  const auto problem = make_instance(spec_of(copies(), load_machine("toy").value()));
  REQUIRE_FALSE(problem.ok());
  const std::string said = to_string(problem.error());
  INFO(said);
  CHECK(said.find("copies.json: /body/3") != std::string::npos);
  CHECK(said.find("copies.json: /body/1") == std::string::npos);
}

TEST_CASE("a parameter may be 0 where it turns something on", "[core]") {
  const Kernel kernel = copies();
  CHECK(is_switch(kernel, *kernel.find_param("SUMS")));
  CHECK_FALSE(is_switch(kernel, *kernel.find_param("N")));
  CHECK_FALSE(evaluate(kernel, {{"N", 0}}).ok());
}
