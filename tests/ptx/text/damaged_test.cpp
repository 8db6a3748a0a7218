// PTX texts with a change each: damaged at random, with a mistake planted, edited without a change of what they do. None may crash who
// reads them, and each mistake must still be PTX.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ptx/text/parse.h"
#include "tests/ptx/small_kernels.h"
#include "tests/support/mutate_text.h"
#include "tests/support/ptx_mutants.h"
#include "tests/support/ptx_statements.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

std::vector<std::string> small_kernels() { return {test::small_ring_kernel(), test::small_tensor_memory_kernel()}; }

PtxModule read(const std::string& text) {
  auto module = parse(text, "test.ptx");
  REQUIRE(module.ok());
  for (const PtxInstruction& instruction : module->functions[0].code) {
    INFO("line " << instruction.line << ": " << instruction.text);
    REQUIRE(instruction.fault == "");
  }
  return std::move(module.value());
}

std::set<int> lines_of(const PtxModule& module) {
  std::set<int> lines;
  for (const PtxInstruction& instruction : module.functions[0].code) lines.insert(instruction.line);
  return lines;
}

/// One of the changes that a transmission makes: a byte or some are gone, there twice, another, or two pieces have changed places.
std::string damaged(std::string text, std::mt19937_64& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  for (std::size_t times = 1 + below(3); times > 0 && text.size() > 80; --times) {
    const std::size_t at = below(text.size() - 40), length = below(4) == 0 ? 1 + below(39) : 1;
    switch (below(5)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, text.substr(at, length)); break;
      case 2: std::swap(text[at], text[below(text.size())]); break;
      case 3: text[at] = static_cast<char>(below(256)); break;
      default:
        if (below(20) == 0) text.resize(at);
    }
  }
  return text;
}

/// What a text that was read promises whoever executes it.
void check_bounds(const PtxModule& module) {
  for (const PtxFunction& function : module.functions) {
    const int size = static_cast<int>(function.code.size());
    bool good = function.needed.size() == function.registers.size();
    for (int pc = 0; pc < size; ++pc) {
      const PtxInstruction& instruction = function.code[static_cast<std::size_t>(pc)];
      good = good && instruction.meet > -1 && instruction.meet <= size && instruction.line > 0;
      good = good && instruction.place < static_cast<int>(function.places.size());
      for (const int target : instruction.targets) good = good && target >= 0 && target <= size;
      const TouchedRegisters touched = registers_of(instruction);
      for (const RegisterId reg : touched.read) good = good && reg.index() < function.registers.size();
      for (const RegisterId reg : touched.written) good = good && reg.index() < function.registers.size();
    }
    CHECK(good);
  }
}

}  // namespace

TEST_CASE("ten thousand damaged texts are read or refused with a line each", "[ptx]") {
  const std::vector<std::string> texts = small_kernels();
  int refused = 0, faults = 0;
  for (std::uint64_t seed = 1; seed <= 10000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string& whole = texts[seed % texts.size()];
    const std::string text = seed % 4 == 0 ? test::mutate_text(whole, texts, random) : damaged(whole, random);
    CAPTURE(seed);
    const auto module = parse(text, "test.ptx");
    if (!module.ok()) {
      ++refused;
      REQUIRE(module.error().faults.size() == 1);
      REQUIRE(module.error().faults[0].message.starts_with("line "));
      continue;
    }
    check_bounds(*module);
    for (const PtxFunction& function : module->functions) {
      faults += static_cast<int>(
          std::count_if(function.code.begin(), function.code.end(), [](const PtxInstruction& i) { return !i.fault.empty(); }));
    }
  }
  CHECK(refused > 100);
  CHECK(faults > 1000);
}

TEST_CASE("statements of a text are those that are read of it", "[ptx]") {
  for (const std::string& text : small_kernels()) {
    const PtxModule module = read(text);
    const auto statements = test::ptx_statements(text);
    const auto& code = module.functions[0].code;
    REQUIRE(statements.size() == code.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
      CHECK(statements[i].line == code[i].line);
      CHECK(statements[i].mnemonic == code[i].mnemonic);
      CHECK(statements[i].operands.size() == code[i].operands.size());
      CHECK(statements[i].guard.empty() == !code[i].guard.valid());
    }
  }
}

TEST_CASE("mistakes of every kind are planted, and each text is still PTX with its lines where they were", "[ptx]") {
  std::map<std::string, int> kinds;
  for (const std::string& text : small_kernels()) {
    const PtxModule module = read(text);
    const auto lines = [](const std::string& whole) { return std::count(whole.begin(), whole.end(), '\n'); };
    for (const test::PtxMutant& mutant : test::ptx_mutants(text, lines_of(module))) {
      CAPTURE(mutant.kind, mutant.line);
      ++kinds[mutant.kind];
      CHECK(mutant.text != text);
      CHECK(lines(mutant.text) == lines(text));
      const PtxModule changed = read(mutant.text);
      CHECK(lines_of(changed).size() >= lines_of(module).size() - 1);
    }
  }
  for (const char* kind : {"drop_arrive",          "flip_parity",           "expect_more",     "expect_half",         "drop_wait",
                           "drop_proxy_fence",     "drop_product_fence",    "drop_init_fence", "drop_product_commit", "drop_product_wait",
                           "product_wait_more",    "ring_deeper",           "copy_elsewhere",  "copy_other_barrier",  "drop_copy",
                           "drop_named_sync",      "named_count",           "init_more",       "init_less",           "registers_more",
                           "drop_store_commit",    "drop_store_wait",       "store_wait_more", "drop_tensor_fence",   "drop_tensor_commit",
                           "commit_other_barrier", "drop_tensor_wait_load", "drop_tensor_free"}) {
    INFO(kind);
    CHECK(kinds[kind] > 0);
  }
  CHECK(kinds["ring_deeper"] == 3);
  CHECK(kinds["copy_elsewhere"] == 4);
  CHECK(kinds["drop_wait"] == 5);
}

TEST_CASE("mistakes are planted only where the launch went", "[ptx]") {
  const std::string text = test::small_ring_kernel();
  CHECK(test::ptx_mutants(text, {}).empty());
  const PtxModule module = read(text);
  for (const PtxInstruction& instruction : module.functions[0].code) {
    for (const test::PtxMutant& mutant : test::ptx_mutants(text, {instruction.line})) CHECK(mutant.line == instruction.line);
  }
}

TEST_CASE("harmless edits leave a text that does the same", "[ptx]") {
  for (const std::string& text : small_kernels()) {
    const PtxModule module = read(text);
    const auto opcodes = [](const PtxModule& of) {
      std::map<std::string, int> count;
      for (const PtxInstruction& instruction : of.functions[0].code) ++count[std::string(instruction.mnemonic)];
      return count;
    };
    const auto before = opcodes(module);
    std::map<std::string, int> kinds;
    for (const test::PtxMutant& edit : test::harmless_ptx_edits(text, 200, 46)) {
      CAPTURE(edit.kind, edit.line);
      ++kinds[edit.kind];
      CHECK(edit.text != text);
      const auto after = opcodes(read(edit.text));
      for (const auto& [mnemonic, count] : before) CHECK(after.at(mnemonic) >= count);
      if (edit.kind == "rename" || edit.kind == "swap" || edit.kind == "comment" || edit.kind == "blank_line") CHECK(after == before);
    }
    CHECK(kinds.size() == 8);
  }
}
