// Triton's texts damaged at random are read or refused with a fault in words; what is read can be worked with: its program, its loops, its
// memory, its kernels in both readings.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "core/base/atomic_file.h"
#include "core/library/library.h"
#include "core/mlir/module.h"
#include "core/problem/resolve.h"
#include "core/triton/audit/audit.h"
#include "core/triton/kernel/graph.h"
#include "core/triton/kernel/native.h"
#include "core/triton/memory/memory.h"
#include "core/triton/read/program.h"
#include "tests/support/mutate_text.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

constexpr std::uint64_t kSeed = 20261125;

struct Tally {
  int parsed = 0, programs = 0, graphs = 0, kernels = 0, problems = 0, orders = 0;
};

std::vector<std::string> texts() {
  std::vector<std::string> names, contents;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository_path("tests/triton/texts")))
    if (entry.path().extension() == ".ttgir") names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) contents.push_back(read_file(name).value());
  return contents;
}

void require_spoken(const Error& error, const std::string& text) {
  bool spoken = !error.faults.empty();
  for (const Fault& fault : error.faults) spoken = spoken && !fault.message.empty();
  if (!spoken) FAIL("an error without a fault in words: " << to_string(error) << "\nfor:\n" << text);
}

/// What holds of every module, whatever is in it.
void require_sound(const mlir::Module& module) {
  bool sound = true;
  for (std::size_t i = 0; i < module.ops.size(); ++i) {
    const mlir::Op& op = module.ops[i];
    sound = sound && op.span.begin < op.span.end && op.span.end <= module.text.size() && op.location < module.locations.size();
    sound = sound && op.bracketed.size() == op.operands.size();
    for (const mlir::ValueId operand : op.operands) {
      sound = sound && operand.valid() && operand.index() < module.values.size();
      if (sound && module.value(operand).definer.valid()) sound = module.value(operand).definer.index() < i;
    }
    for (const mlir::Attribute& attribute : op.attributes)
      sound = sound && attribute.span.begin < attribute.span.end && attribute.span.end <= op.span.end;
  }
  if (!sound) FAIL("a module that is not sound:\n" << module.text);
}

void work_through(const std::string& text, const std::vector<Machine>& machines, Tally& tally) {
  Result<mlir::Module> module = mlir::parse(text, "fuzz.ttgir");
  if (!module) return require_spoken(module.error(), text);
  require_sound(*module);
  ++tally.parsed;
  const Result<triton::TritonProgram> program = triton::make_program(*std::move(module));
  if (!program) return require_spoken(program.error(), text);
  ++tally.programs;
  triton::memory_of(*program);
  const Machine& machine = machines[program->target >= 100 ? 1 : 0];
  const triton::TextAudit audit = triton::audit(*program, machine);
  if (triton::audit_text(audit, nullptr, {}).empty()) FAIL("no audit for:\n" << text);
  for (const triton::LoopSite& loop : program->loops) {
    triton::rings_of(*program, loop);
    const Result<triton::TileGraph> graph = triton::loop_graph(*program, loop);
    if (!graph) {
      require_spoken(graph.error(), text);
      continue;
    }
    ++tally.graphs;
    for (const triton::TextReading reading : {triton::TextReading::Triton, triton::TextReading::Free}) {
      const Result<triton::Native> native = triton::to_native(*program, loop, reading);
      if (!native) {
        require_spoken(native.error(), text);
        continue;
      }
      ++tally.kernels;
      const Result<Problem> problem = resolve(native->kernel, machine);
      if (!problem) {
        require_spoken(problem.error(), text);
        continue;
      }
      ++tally.problems;
      triton::triton_rules(*program, *native, *problem);
      if (reading != triton::TextReading::Triton || !native->has_own) continue;
      ++tally.orders;
      triton::own_order(*native, *problem);
    }
  }
}

Tally work_through_many(int mutations) {
  const std::vector<std::string> originals = texts();
  const std::vector<Machine> machines = {load_machine("h100").value(), load_machine("b200").value()};
  std::mt19937_64 random(kSeed);
  Tally tally;
  for (int i = 0; i < mutations; ++i)
    work_through(test::mutate_text(originals[static_cast<std::size_t>(i) % originals.size()], originals, random), machines, tally);
  return tally;
}

}  // namespace

TEST_CASE("damaged texts of Triton are read or refused, and what is read can be worked with", "[core]") {
  INFO("seed " << kSeed);
  const Tally tally = work_through_many(3000);
  CHECK(tally.parsed > 300);
  CHECK(tally.programs > 300);
  CHECK(tally.graphs > 50);
}

TEST_CASE("a hundred thousand damaged texts of Triton break nothing", "[core][.slow]") {
  INFO("seed " << kSeed);
  CHECK(work_through_many(100'000).graphs > 1000);
}
