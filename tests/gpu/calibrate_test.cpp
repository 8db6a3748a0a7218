// Formulas after measuring, micro-kernels, and heddle calibrate on the fake GPU, whose instructions all take elems / 16 cycles
// among many.
#include "codegen/calibrate/fit.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/machine_code/instructions.h"
#include "codegen/machine_code/loops.h"
#include "codegen/machine_code/opcode.h"
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
  CHECK(fit.formula.text() == "ceil_div(ceil_div(elems, 10) * 1200, 1000) + 80");
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

TEST_CASE("a number that a formula adds becomes a part of the shift, and factors are short where they can be", "[gpu]") {
  CHECK(fit_formula(formula("30 + elems"), line(1, 5)).formula.text() == "elems + 5");
  CHECK(fit_formula(formula("elems + 30"), line(1.5, -20)).formula.text() == "max(1, ceil_div(elems * 1500, 1000) - 20)");
  CHECK(fit_formula(formula("max(4, elems)"), line(3, 0)).formula.text() == "max(4, elems) * 3");
  CHECK(fit_formula(formula("2 * elems + 8"), line(0.7, 1)).formula.text() == "ceil_div((2 * elems) * 350, 1000) + 1");
  // No sum: 30 belongs to the comparison, and to the product.
  CHECK(fit_formula(formula("elems < elems + 30"), line(0, 40)).formula.text() == "elems < elems + 30 + 39");
  CHECK(fit_formula(formula("30 + elems - 30"), line(2, 0)).formula.text() == "(elems - 30) * 2 + 60");
}

TEST_CASE("a number that the shapes outgrow becomes what grows with their bytes", "[gpu]") {
  std::vector<std::pair<Scope, double>> points;
  for (const std::int64_t bytes : {8192, 16384, 32768}) points.push_back({{{"bytes", bytes}}, static_cast<double>(bytes) / 32 + 8});
  const FittedFormula fit = fit_formula(formula("30"), points);
  CHECK(fit.formula.text() == "max(30, ceil_div(bytes, 64) * 2 + 8)");
  CHECK(fit.worst < 0.01);
}

TEST_CASE("what a rule takes of the port follows from the catalogue; the interval of a TMA store is its engine's", "[gpu]") {
  const Machine machine = h100();
  std::vector<std::string> left_out;
  const auto kernels = micro_kernels(machine, left_out);
  std::vector<CalibrationPoint> points;
  for (const MicroKernel& kernel : kernels) {
    MicroResult result{20, 0, 0};
    if (kernel.rule == "tma_store") result.interval = static_cast<double>(kernel.dims.at("bytes")) / 32 + 8;
    if (kernel.rule == "smem_load") result.interval = 1.3 * static_cast<double>(kernel.dims.at("port"));
    result.latency = result.interval + 40;
    if (result.interval > 0) points.push_back({&kernel, result});
  }
  std::vector<CalibratedRule> summary;
  const Machine made = calibrated(machine, points, "a card", summary);
  const CostRule &store = *made.find_rule("tma_store"), &load = *made.find_rule("smem_load");
  for (const UnitCost& use : store.uses)
    CHECK(use.duration.text() == (use.unit == "TMA" ? "max(30, ceil_div(bytes, 64) * 2 + 8)" : "port"));
  for (const UnitCost& use : load.uses) CHECK(use.duration.text() == machine.find_rule("smem_load")->uses[0].duration.text());
  REQUIRE(summary.size() == 2);
  CHECK(summary[0].interval.value_or(1) < 0.01);
  // That the port is busy for longer than the catalogue says is told, with the times.
  CHECK(summary[1].interval.value_or(0) == Approx(0.3 / 1.3).margin(0.01));
  CHECK(summary[1].says == "measured: interval 83.2, 166, 333");
}

/// Asynchronous loads, exclusive or and the place of a maximum are not written as CUDA yet; a map is counted in instructions of others.
const std::vector<std::string> kLeftOut{"tma_load.indexed",
                                        "gather",
                                        "gather.indexed",
                                        "tma_store.before",
                                        "atomic_add.register",
                                        "load.async",
                                        "mma.sync",
                                        "mma.fma",
                                        "reduce_xor",
                                        "reduce_argmax",
                                        "map",
                                        "mask",
                                        "copy",
                                        "fill",
                                        "broadcast"};

TEST_CASE("there is a micro-kernel for every rule that has an instruction, each with its own text", "[gpu]") {
  std::vector<std::string> left_out;
  const auto kernels = micro_kernels(h100(), left_out);
  CHECK(std::erase(left_out, "copy.bytes") == 1);  // of bytes within a thread
  CHECK(left_out == kLeftOut);
  std::set<std::string> texts;
  for (const MicroKernel& kernel : kernels) texts.insert(kernel.source);
  CHECK(texts.size() == kernels.size());
  CHECK(kernels.front().rule == "nothing");
}

TEST_CASE("on Blackwell mmas and moves of tensor memory have micro-kernels, too", "[gpu]") {
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

TEST_CASE("every instruction of the catalogue that moves registers to shared memory or back has a micro-kernel at 1, 2, 4 and 8 ways",
          "[gpu]") {
  for (const Machine& machine : {h100(), b200()}) {
    std::vector<std::string> left_out;
    const auto kernels = bank_kernels(machine, left_out);
    CHECK(left_out.empty());
    std::set<std::string> texts;
    std::map<std::string, std::set<int>> ways;
    for (const MicroKernel& kernel : kernels) {
      texts.insert(kernel.source);
      ways[kernel.instruction].insert(kernel.ways);
      const heddle::Instruction* row = machine.find_instruction(kernel.instruction);
      REQUIRE(row);
      const std::int64_t lanes = std::int64_t{1} << kernel.lane_bytes.size();
      INFO(kernel.instruction << " " << kernel.ways);
      CHECK(bank_cycles(kernel, row->lanes_per_phase) == kernel.ways * lanes / row->lanes_per_phase);
    }
    CHECK(texts.size() == kernels.size());
    std::size_t rows = 0;
    for (const heddle::Instruction& row : machine.instructions)
      rows += row.kind == InstructionKind::SharedLoad || row.kind == InstructionKind::SharedStore ||
              row.kind == InstructionKind::MatrixLoad || row.kind == InstructionKind::MatrixStore;
    CHECK(ways.size() == rows);
    CHECK(rows >= 22);
    for (const auto& [name, found] : ways) CHECK(found == std::set<int>{1, 2, 4, 8});
  }
}

TEST_CASE("times at 1, 2, 4 and 8 ways tell how many lanes go to memory together", "[gpu]") {
  const Machine machine = h100();
  std::vector<std::string> left_out;
  const auto kernels = bank_kernels(machine, left_out);
  for (const heddle::Instruction& row : machine.instructions) {
    std::vector<const MicroKernel*> own;
    for (const MicroKernel& kernel : kernels)
      if (kernel.instruction == row.name) own.push_back(&kernel);
    if (own.empty()) continue;
    const int lanes_of_row = 1 << own.front()->lane_bytes.size();
    for (const int truth : {4, 8, 16, 32}) {
      // Where fewer lanes give addresses than go together, or all of them lie in one phase anyway, nothing is to be told apart.
      if (truth > lanes_of_row) continue;
      std::vector<std::pair<const MicroKernel*, double>> measured;
      for (const MicroKernel* kernel : own) measured.emplace_back(kernel, 1.04 * static_cast<double>(bank_cycles(*kernel, truth)));
      const FittedPhases phases = fit_phases(measured, row.lanes_per_phase);
      INFO(row.name << ", truth " << truth << ", found " << phases.lanes << " with " << phases.cycles << " cycles");
      bool same = true;  // under the rule that was found
      for (const auto& [kernel, cycles] : measured)
        same = same && phases.cycles * bank_cycles(*kernel, phases.lanes) == bank_cycles(*kernel, truth);
      CHECK(same);
      CHECK(phases.worst < 0.05);
      if (truth == row.lanes_per_phase) {
        CHECK(phases.lanes == truth);
        CHECK(phases.told);
      }
    }
    // An instruction that is issued more slowly than its fewest phases: the times of many ways tell the rule, the fewest the issue.
    std::vector<std::pair<const MicroKernel*, double>> issued;
    for (const MicroKernel* kernel : own)
      issued.emplace_back(
          kernel, std::max(1.5 * lanes_of_row / row.lanes_per_phase, static_cast<double>(bank_cycles(*kernel, row.lanes_per_phase))));
    const FittedPhases slow = fit_phases(issued, row.lanes_per_phase);
    CHECK(slow.told);
    CHECK(slow.lanes == row.lanes_per_phase);
    CHECK(slow.least == Approx(1.5 * lanes_of_row / row.lanes_per_phase));
    // Times that do not grow with the ways are no rule's.
    std::vector<std::pair<const MicroKernel*, double>> flat;
    for (const MicroKernel* kernel : own) flat.emplace_back(kernel, 3.0);
    CHECK_FALSE(fit_phases(flat, row.lanes_per_phase).told);
  }
}

TEST_CASE("what was measured of an instruction stands in the machine file, and what no rule explains stays an assumption", "[gpu]") {
  const Machine machine = h100();
  std::vector<std::string> left_out;
  const auto kernels = bank_kernels(machine, left_out);
  std::vector<CalibrationPoint> points;
  for (const MicroKernel& kernel : kernels) {
    MicroResult result;
    if (kernel.instruction == "st.shared.8") result.interval = static_cast<double>(kernel.issued * bank_cycles(kernel, 32));
    if (kernel.instruction == "st.shared.4") result.interval = static_cast<double>(kernel.issued * 2 * bank_cycles(kernel, 32));
    if (kernel.instruction == "ldmatrix.x4") result.interval = static_cast<double>(kernel.issued) * 3;
    points.push_back({&kernel, result});
  }
  std::vector<CalibratedRule> summary;
  const Machine made = calibrated(machine, points, "a card, 2026-01-02", summary);
  CHECK(summary.size() == 3);
  const heddle::Instruction &wide = *made.find_instruction("st.shared.8"), &slow = *made.find_instruction("st.shared.4"),
                            &odd = *made.find_instruction("ldmatrix.x4"), &left = *made.find_instruction("ld.shared.4");
  CHECK(wide.lanes_per_phase == 32);
  CHECK_FALSE(wide.assumed);
  CHECK(wide.source.starts_with("measured: heddle calibrate on a card, 2026-01-02, 4 shapes, worst residual 0 %; form: "));
  CHECK(slow.cycles.text() == "2");
  CHECK(slow.lanes_per_phase == 32);
  CHECK(odd.assumed);
  CHECK(odd.lanes_per_phase == machine.find_instruction("ldmatrix.x4")->lanes_per_phase);
  CHECK(odd.source.find("no rule of phases explains the times") != std::string::npos);
  CHECK(left.assumed == machine.find_instruction("ld.shared.4")->assumed);
  CHECK(left.source == machine.find_instruction("ld.shared.4")->source);
  // The file has it, and calibrating again keeps what the rule came from once.
  const auto again = parse_machine(machine_text(made), "again.json");
  REQUIRE(again.ok());
  CHECK(again->find_instruction("st.shared.8")->lanes_per_phase == 32);
  CHECK_FALSE(again->find_instruction("st.shared.8")->assumed);
  CHECK(again->find_instruction("st.shared.8")->source == wide.source);
  const Machine twice = calibrated(*again, points, "another", summary);
  const std::string& source = twice.find_instruction("st.shared.8")->source;
  CHECK(source.find("form: ") == source.rfind("form: "));
}

/// How many instructions each loop has of those that a micro-kernel measures; loops without any, and loops around others, are left out.
std::vector<std::int64_t> measured_in_loops(const MicroKernel& kernel, const std::vector<codegen::MachineInstruction>& code) {
  const auto measured = [&](OpClass what) {
    const std::string& rule = kernel.rule;
    if (!kernel.instruction.empty() || rule.starts_with("smem")) return what == OpClass::SharedMemory;
    if (rule.starts_with("mma")) return is_product(what);
    if (rule.starts_with("tma") || rule == "atomic_add") return what == OpClass::BulkCopy;
    if (rule.starts_with("tmem")) return what == OpClass::TensorLoad || what == OpClass::TensorStore;
    return what == OpClass::Special || what == OpClass::Float || what == OpClass::Convert;
  };
  const std::vector<MachineLoop> loops = find_loops(code);
  std::vector<std::int64_t> found;
  for (const MachineLoop& loop : loops) {
    const auto inside = [&](const MachineLoop& other) {
      return &other != &loop && other.instructions.size() < loop.instructions.size() &&
             std::binary_search(loop.instructions.begin(), loop.instructions.end(), other.instructions.front());
    };
    const auto count =
        std::count_if(loop.instructions.begin(), loop.instructions.end(), [&](std::size_t i) { return measured(class_of(code[i])); });
    if (count > 0 && std::none_of(loops.begin(), loops.end(), inside)) found.push_back(count);
  }
  return found;
}

TEST_CASE("micro-kernels compile without a remark of ptxas, which leaves what they measure in its loop", "[gpu][.slow]") {
  if (const auto compiler = find_compiler(); !compiler.ok()) {
    std::cout << "skipped: " << compiler.error().faults.front().message << "\n";
    return;
  }
  std::vector<std::string> left_out;
  std::vector<std::pair<MicroKernel, std::string>> all;
  for (const Machine& machine : {h100(), b200()})
    for (auto* kernels : {&micro_kernels, &bank_kernels})
      for (MicroKernel& kernel : kernels(machine, left_out)) all.emplace_back(std::move(kernel), machine.arch);
  for (const auto& [kernel, arch] : all) {
    const auto compiled = compile_cuda(kernel.source, {Compiler::Auto, default_cache(), nullptr, arch});
    if (!compiled.ok()) FAIL(kernel.rule << ": " << to_string(compiled.error()));
    INFO(kernel.rule << " on " << arch << ", " << kernel.source.substr(0, kernel.source.find('\n')));
    CHECK(compiled->report.remarks.empty());
    CHECK(compiled->report.spill_stores == 0);
    if (kernel.rule == "nothing" || kernel.rule.starts_with("handoff") || !kernel.tells_interval) continue;
    const auto code = read_instructions(compiled->cubin);
    REQUIRE(code.ok());
    const std::vector<std::int64_t> loops = measured_in_loops(kernel, *code);
    INFO(fmt::format("in loops: {}", fmt::join(loops, ", ")));
    switch (kernel.method) {
      case MicroKernel::Method::Single: {  // one by one, and in a row; each tcgen05.mma has a little loop of its own
        const auto half = loops.begin() + static_cast<std::ptrdiff_t>(loops.size() / 2);
        const std::int64_t single = std::accumulate(loops.begin(), half, std::int64_t{0});
        CHECK(single > 0);
        CHECK(std::accumulate(half, loops.end(), std::int64_t{0}) == single);
        if (!kernel.instruction.empty()) CHECK(single == kernel.issued / 4);
        if (kernel.rule.starts_with("smem")) CHECK(single == kernel.dims.at("bytes") / (128 * 16));
        if (kernel.rule.starts_with("mma")) CHECK(single == kernel.dims.at("K") / 16);
        break;
      }
      case MicroKernel::Method::Chain:  // two tiles, one, and elements that need each other
        REQUIRE(loops.size() == 3);
        CHECK(loops[1] >= kernel.elements);
        CHECK(loops[0] == 2 * loops[1]);
        CHECK(loops[2] * kernel.elements == kMicroChain * loops[1]);
        break;
      case MicroKernel::Method::Beside: {
        // Two feeds, a fold of two or three at a time, the sum behind. Of a loop where lanes may part the count would be another.
        const std::int64_t elements = kernel.dims.at("elems") / 128;
        REQUIRE(!loops.empty());
        CHECK(*std::min_element(loops.begin(), loops.end()) >= elements);
        CHECK(std::count_if(code->begin(), code->end(), [](const auto& i) { return class_of(i) == OpClass::Float; }) >= 7 * elements / 2);
        break;
      }
    }
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
  // The fake GPU takes 128 bytes of lanes together.
  for (const auto& [name, lanes] : {std::pair{"ld.shared.4", 32}, {"st.shared.8", 16}, {"st.shared.16", 8}, {"ldmatrix.x4.trans", 8}}) {
    const heddle::Instruction* row = machine->find_instruction(name);
    REQUIRE(row != nullptr);
    CHECK(row->lanes_per_phase == lanes);
    CHECK(row->cycles.text() == "1");
    CHECK_FALSE(row->assumed);
    CHECK(row->source.find("measured: heddle calibrate on fake GPU, driver CUDA 13.0, ") == 0);
  }
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
