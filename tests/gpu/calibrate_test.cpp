// Formulas after measuring, micro-kernels, and heddle calibrate on the fake GPU, whose instructions all take elems / 16 cycles
// among many.
#include "codegen/calibrate/fit.h"

#include <sys/wait.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "core/base/atomic_file.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "tests/gpu/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

Expr formula(const char* text) { return Expr::parse(text).value(); }

std::vector<std::pair<Scope, double>> line(double slope, double shift) {
  std::vector<std::pair<Scope, double>> points;
  for (const std::int64_t e : {1000, 2000, 4000}) points.push_back({{{"elems", e}}, slope * static_cast<double>(e) + shift});
  return points;
}

std::int64_t at(const Expr& expr, std::int64_t elems) { return expr.evaluate({{"elems", elems}}).value(); }

Machine h100() { return load_machine(test::repository_path("assets/machines/h100.json")).value(); }
Machine b200() { return load_machine(test::repository_path("assets/machines/b200.json")).value(); }

}  // namespace

TEST_CASE("a formula keeps its form, scaled and shifted to what was measured", "[gpu]") {
  const FittedFormula fit = fit_formula(formula("ceil_div(elems, 10) + 30"), line(0.12, 80));
  CHECK(fit.changed);
  CHECK(fit.formula.text() == "ceil_div((ceil_div(elems, 10) + 30) * 1200, 1000) + 44");
  CHECK(at(fit.formula, 3000) == 440);
  CHECK(fit.worst < 0.01);
}

TEST_CASE("a formula that was right stays, one number for all stays one number, and times stay positive", "[gpu]") {
  CHECK_FALSE(fit_formula(formula("ceil_div(elems, 10)"), line(0.1, 0)).changed);
  const FittedFormula constant = fit_formula(formula("30"), {{{{"elems", 5}}, 44}, {{{"elems", 9}}, 46}});
  CHECK(constant.formula.text() == "45");
  const FittedFormula below = fit_formula(formula("ceil_div(elems, 10)"), line(0.1, -99));
  CHECK(at(below.formula, 10) == 1);
  CHECK(at(below.formula, 4000) == 301);
  CHECK_FALSE(fit_formula(formula("elems / 0"), line(1, 0)).changed);
  CHECK(fit_formula(formula("elems + transpose"), line(1, 50)).formula.text() == "elems + transpose + 50");
}

/// Asynchronous loads, exclusive or and the place of a maximum are not written as CUDA yet; a map is counted in instructions of others.
const std::vector<std::string> kLeftOut{
    "gather", "atomic_add.register", "load.async", "reduce_xor", "reduce_argmax", "map", "mask", "copy", "fill", "broadcast"};

TEST_CASE("there is a micro-kernel for every rule that has an instruction, each with its own text", "[gpu]") {
  std::vector<std::string> left_out;
  const auto kernels = micro_kernels(h100(), left_out);
  CHECK(left_out == kLeftOut);
  std::set<std::string> texts;
  for (const MicroKernel& kernel : kernels) texts.insert(kernel.source);
  CHECK(texts.size() == kernels.size());
  CHECK(kernels.front().rule == "nothing");
}

TEST_CASE("on Blackwell products and moves of tensor memory have micro-kernels, too", "[gpu]") {
  std::vector<std::string> left_out;
  const auto kernels = micro_kernels(b200(), left_out);
  CHECK(left_out == kLeftOut);
  std::set<std::string> rules;
  for (const MicroKernel& kernel : kernels) {
    rules.insert(kernel.rule);
    CHECK(kernel.source.find("wgmma.mma_async") == std::string::npos);
  }
  for (const char* rule : {"mma.ss", "mma.ts", "tmem_load", "tmem_store", "reduce_max.three_inputs"}) CHECK(rules.contains(rule));
}

TEST_CASE("micro-kernels compile without a remark of ptxas", "[gpu][.slow]") {
  if (const auto compiler = find_compiler(); !compiler.ok()) {
    std::cout << "skipped: " << compiler.error().faults.front().message << "\n";
    return;
  }
  std::vector<std::string> left_out;
  std::vector<std::pair<MicroKernel, std::string>> all;
  for (const Machine& machine : {h100(), b200()})
    for (MicroKernel& kernel : micro_kernels(machine, left_out)) all.emplace_back(std::move(kernel), machine.arch);
  for (const auto& [kernel, arch] : all) {
    const auto compiled = compile_cuda(kernel.source, {Compiler::Auto, default_cache(), nullptr, arch});
    if (!compiled.ok()) FAIL(kernel.rule << ": " << to_string(compiled.error()));
    INFO(kernel.rule);
    CHECK(compiled->report.remarks.empty());
    CHECK(compiled->report.spill_stores == 0);
  }
}

TEST_CASE("what a micro-kernel did not write is not taken for a time", "[gpu]") {
  MicroKernel kernel;
  std::vector<std::uint8_t> bytes(8 * kMicroWords, 0xff);
  CHECK_FALSE(read_micro(kernel, bytes, {}).has_value());
  CHECK_FALSE(read_micro(kernel, {}, {}).has_value());
  kernel.method = MicroKernel::Method::Chain;
  CHECK_FALSE(read_micro(kernel, bytes, {}).has_value());
}

TEST_CASE("heddle calibrate writes a machine file with what the GPU takes", "[gpu]") {
  const test::FakeGpu gpu;
  const std::string folder = HEDDLE_FAKE_KERNELS "/calibrate", file = folder + "/machine.json";
  REQUIRE(write_file(file, "", MissingFolder::Create).ok());
  const std::string command = fmt::format("XDG_CACHE_HOME='{0}' '{1}' calibrate h100 --compiler nvrtc -o '{2}' >'{0}/out' 2>'{0}/err'",
                                          folder, HEDDLE_PROGRAM, file);
  const int status = std::system(command.c_str());
  INFO(read_file(folder + "/out").value() << read_file(folder + "/err").value());
  REQUIRE(WEXITSTATUS(status) == 0);
  const auto machine = read_machine(file);
  REQUIRE(machine.ok());
  const CostRule* exp2 = machine->find_rule("exp2");
  REQUIRE(exp2 != nullptr);
  Scope dims{{"rows", 64}, {"cols", 96}, {"elems", 64 * 96}, {"inputs", 1}};
  CHECK(exp2->window.evaluate(dims).value() == Approx(64 * 96 / 16 + 5).margin(4));
  CHECK(exp2->uses[0].duration.evaluate(dims).value() == Approx(64 * 96 / 16 + 5).margin(4));
  CHECK(exp2->latency.evaluate(dims).value() > exp2->window.evaluate(dims).value());
  CHECK(exp2->source.find("measured: heddle calibrate on fake GPU, driver CUDA 13.0, ") == 0);
  CHECK(exp2->source.find("; form: derived: 16 ex2 per cycle") != std::string::npos);
  // One way is half of 50 cycles there and back; the empty kernel's 12 are taken off before.
  CHECK(machine->handoff.signal.evaluate({}).value() == 25);
  CHECK(machine->find_rule("gather")->source == h100().find_rule("gather")->source);
  // Again: the form stays where it came from.
  const Machine twice = calibrated(*machine, {}, "elsewhere", *std::make_unique<std::vector<CalibratedRule>>());
  CHECK(twice.find_rule("exp2")->source == exp2->source);
}

TEST_CASE("calibrating without a GPU says so, and what can be done", "[gpu]") {
  const std::string folder = HEDDLE_FAKE_KERNELS "/calibrate";
  REQUIRE(write_file(folder + "/err", "", MissingFolder::Create).ok());
  const int status = std::system(
      fmt::format("HEDDLE_CUDA_DRIVER=/nowhere/libcuda.so '{}' calibrate h100 2>'{}/err' >/dev/null", HEDDLE_PROGRAM, folder).c_str());
  CHECK(WEXITSTATUS(status) == 6);
  CHECK(read_file(folder + "/err").value().find("without a GPU the micro-kernels can be written and compiled: --emit-only DIR") !=
        std::string::npos);
  CHECK(WEXITSTATUS(std::system(fmt::format("'{}' calibrate toy 2>/dev/null >/dev/null", HEDDLE_PROGRAM).c_str())) == 3);
}
