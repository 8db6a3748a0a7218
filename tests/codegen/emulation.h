// Runs the text of a generated kernel on the CPU, as C++ over the emulator, and compares with heddle eval.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/program/build.h"
#include "core/kernel/kernel.h"
#include "core/kernel/scalars.h"
#include "tests/codegen/banks.h"
#include "tests/codegen/fixture.h"

namespace heddle::test {

using Wrong = std::pair<std::string, std::string>;

/// Root mean square of the difference over that of the reference, after running the text on `blocks` blocks.
/// How the threads met shared memory is compared with what the problem says of it, too.
/// With `wrong`, the first text is replaced by the second wherever it stands; the answer is then infinite if nothing came out.
double run_text(const Lowering& from, int blocks, const Wrong& wrong = {}, const codegen::BuildOptions& options = {});
double run_text(const std::string& name, const Scope& sizes, int blocks, const Wrong& wrong = {},
                const codegen::BuildOptions& options = {});

/// One text with sizes at run time, run with each of these sizes on so many blocks: all of them make the same text, and its conditions
/// hold. The last of them with these numbers (core/kernel/scalars.h). The worst of what run_text() gives.
double run_with_sizes(const std::string& name, const std::vector<Scope>& sizes, int blocks, codegen::BuildOptions options = {},
                      const ScalarValues& last = {});

/// A formula of a text's sizes (codegen/emit/emit.h) for these parameters.
std::int64_t size_of(const std::string& formula, const Scope& params);

/// Of the text that ran last.
const std::vector<BankCount>& bank_counts();
/// Accesses that were compared with what their problems say, of all texts so far.
int accesses_compared();

/// What is plain arithmetic over other wrappers in a kernel's text or a CUDA file: it runs as it is.
std::string plain_text(std::string_view source);

/// That the text ends, computes what eval computes to within `tolerance`, and meets in banks as the problem says.
bool survives(const Lowering& from, int blocks, double tolerance);

struct MutantRun {
  int count = 0;
  std::vector<std::string> survivors;  ///< a sentence each
};
/// Runs every `every`th text mutant (tests/codegen/text_mutants.h). One that ends, computes what eval computes, and meets in banks as often
/// as the right text survives.
MutantRun run_mutants(const Lowering& from, int blocks, double tolerance, std::size_t every = 1, const codegen::BuildOptions& options = {});

struct Outcome {
  int code = 0;           ///< 3: the emulator objects
  std::string complaint;  ///< the first line of it
};
/// Compiles a C++ program over the emulator and runs it with each of these arguments.
std::vector<Outcome> run_emulated(const std::string& text, const std::vector<std::string>& arguments);

}  // namespace heddle::test
