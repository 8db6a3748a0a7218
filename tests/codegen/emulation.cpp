#include "tests/codegen/emulation.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/device/device.h"
#include "codegen/emit/emit.h"
#include "core/base/atomic_file.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/packed.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "tests/codegen/text_mutants.h"
#include "tests/support/paths.h"

namespace heddle::test {

using namespace codegen;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("heddle-emulate-{}", static_cast<long>(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

/// Of a wrapper, such as "u64 matrix"; empty where `source` has none.
std::string definition_of(std::string_view source, std::string_view wrapper) {
  const std::size_t at = source.find(fmt::format("DEVICE {}(", wrapper));
  if (at == std::string_view::npos) return {};
  const std::size_t line = source.find('\n', at);
  return std::string(source.substr(at, (source[line - 1] == '}' ? line + 1 : source.find("\n}\n", at) + 3) - at));
}

/// What makes descriptors is no business of the emulator, which takes them apart: these are the kernel's own wrappers, or the library's
/// where it has none, for mutants.
std::string descriptor_wrappers(std::string_view source) {
  std::string text;
  for (const char* wrapper : {"u64 matrix", "u64 matrix_64", "u64 matrix_32", "u64 behind", "u64 tensor_matrix"}) {
    std::string own = definition_of(source, wrapper);
    for (const EmbeddedFile& file : device_files())
      if (own.empty()) own = definition_of(file.body(), wrapper);
    text += own;
  }
  return text;
}

/// The text with the emulator in place of its PTX wrappers, and a main() that reads and writes tensors.
std::string program_text(const Emission& emission, const std::string& source, const Kernel& kernel, const std::string& folder, int blocks) {
  REQUIRE(write_file(folder + "/descriptors.h", descriptor_wrappers(source)).ok());
  std::string text = fmt::format("#include \"{0}/tensor_memory.h\"\n#include \"{1}/descriptors.h\"\n#include \"{0}/mutants.h\"\n",
                                 repository_path("tests/codegen/emulator"), folder);
  const std::string head = "DEVICE void product_n";
  for (std::size_t at = source.find(head); at != std::string::npos; at = source.find(head, at + 1)) {
    // product_n128_ss_ta_t_e4m3_e5m2: columns, where A is, which operands are transposed, types that are not bf16
    const std::size_t begin = at + head.size();
    const std::string rest = source.substr(begin, source.find('(', begin) - begin);
    const int n = std::stoi(rest);
    std::vector<std::string> words, types;
    for (std::size_t from = 0; from < rest.size(); from = std::min(rest.find('_', from), rest.size()) + 1)
      words.push_back(rest.substr(from, rest.find('_', from) - from));
    for (const std::string& word : words)
      if (word == "f16" || word == "e4m3" || word == "e5m2")
        types.push_back(std::string("Number::") + static_cast<char>(word[0] - 'a' + 'A') + word.substr(1));
    if (types.empty()) types = {"Number::Bf16"};
    const auto says = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    text += fmt::format("template <class... A> void product_n{}(float (&d)[{} / 2], A... a) {{ product<{}, {}, {}, {}, {}>(d, a...); }}\n",
                        rest, n, n, says("ta"), says("t"), types.front(), types.back());
    // The macro has the line; bytes: 32 of every row of K, of B and, where it is there, of A.
    text += fmt::format("#define product_n{0}(...) (banks::note_product({1}, __LINE__), product_n{0}(__VA_ARGS__))\n", rest,
                        32 * (n + (says("ss") ? 64 : 0)));
  }
  text += plain_text(source);
  // Lines keep the numbers that the emission gives them.
  const std::size_t kernel_at = std::min(source.find("struct Sizes {"), source.find("extern \"C\" __global__"));
  text += fmt::format("#line {}\n", 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(kernel_at), '\n'));
  text += source.substr(kernel_at);
  text +=
      "int main(int, char** late) {\n  banks::on = true;\n  read_mutant();\n  if (late[1]) late_copies = late[1][0] == 'c', late_products "
      "= !late_copies;\n";
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t)
    text += fmt::format("  auto t{0} = read_{1}(\"{2}/{0}\");\n", t, to_string(kernel.tensors[t].dtype), folder);
  std::string arguments;
  const auto& sizes = emission.launch.sizes;
  if (sizes)
    text += fmt::format(
        "  std::FILE* numbers = std::fopen(\"{}/sizes\", \"r\");\n  const auto next = [&] {{ long n = 0; if (std::fscanf(numbers, \"%ld\", "
        "&n) != 1) die(\"no sizes\"); return n; }};\n  [[maybe_unused]] const auto real = [&] {{ float x = 0; if (std::fscanf(numbers, "
        "\"%f\", &x) != 1) "
        "die(\"no numbers\"); return x; }};\n",
        folder);
  const auto read = [](std::size_t count, const char* number) {
    return fmt::format("{}", fmt::join(std::vector<std::string>(count, number), ", "));
  };
  for (std::size_t m = 0; m < emission.launch.maps.size(); ++m) {
    const TensorMapPlan& map = emission.launch.maps[m];
    const std::string extents = sizes ? read(map.extents.size(), "next()") : fmt::format("{}", fmt::join(map.extents, ", "));
    text += fmt::format("  const Plan plan{0}{{t{1}.data(), {2}, {{{3}}}, {{{4}}}, emulated_span({0}, {5}), {{{6}}}}};\n", m, map.tensor,
                        std::max(bits_of(kernel.tensors[map.tensor].dtype) / 8, 1), extents, fmt::join(map.box, ", "), map.swizzle,
                        fmt::join(map.strides, ", "));
    arguments += fmt::format("{}TensorMap{{&plan{}}}", arguments.empty() ? "" : ", ", m);
  }
  for (const std::size_t p : emission.launch.pointers) arguments += fmt::format("{}t{}.data()", arguments.empty() ? "" : ", ", p);
  if (sizes) {
    text += fmt::format("  const Sizes sizes{{{}}};\n", read(sizes->fields.size(), "int(next())") +
                                                            (sizes->numbers.empty() ? "" : ", " + read(sizes->numbers.size(), "real()")));
    arguments += arguments.empty() ? "sizes" : ", sizes";
  }
  text += fmt::format("  for (int b = 0; b < {0}; b += {4}) run_block(b, {0}, {1}, {4}, [&] {{ {2}({3}); }});\n", blocks,
                      emission.launch.threads, emission.launch.entry, arguments, emission.launch.cluster);
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t)
    if (is_written(kernel.tensors[t].role))
      text += fmt::format("  write_{2}(\"{1}/{0}.out\", t{0});\n", t, folder, to_string(kernel.tensors[t].dtype));
  return text + fmt::format("  banks::write_counts(\"{}/banks\");\n}}\n", folder);
}

/// What a text with sizes at run time reads of them: extents of its maps, then its argument's fields.
void write_sizes(const LaunchPlan& launch, const Scope& params, const Folder& folder) {
  std::ofstream numbers(folder.path / "sizes");
  for (const TensorMapPlan& map : launch.maps)
    for (const std::string& extent : map.extent_texts) numbers << size_of(extent, params) << '\n';
  for (const SizeField& field : launch.sizes->fields) numbers << size_of(field.formula, params) << '\n';
  for (const ScalarField& field : launch.sizes->numbers)
    numbers << fmt::format("{}\n", static_cast<float>(launch.sizes->scalars[field.scalar].standard * field.factor));
  for (const SizeCondition& condition : launch.sizes->conditions) {
    INFO(condition.sentence);
    REQUIRE(size_of(condition.formula, params) != 0);
  }
}

std::vector<BankCount> counts;  ///< of the text that ran last
int accesses = 0;               ///< compared so far

Outcome run_program(const std::string& command, const Folder& folder) {
  const std::string says = (folder.path / "says").string();
  const int status = std::system(fmt::format("{} 2>\"{}\"", command, says).c_str());
  std::string line;
  std::getline(std::ifstream(says), line);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, line};
}

/// Where the program lies then.
std::string compiled(const std::string& text, const Folder& folder) {
  const std::string cpp = (folder.path / "kernel.cpp").string(), run = (folder.path / "kernel").string();
  REQUIRE(write_file(cpp, text).ok());
  REQUIRE(std::system(fmt::format("\"{}\" -std=c++20 -O1 -U_FORTIFY_SOURCE -w -o \"{}\" \"{}\"", HEDDLE_CXX, run, cpp).c_str()) == 0);
  return "\"" + run + "\"";
}

/// Where an element of a tensor is kept.
std::size_t kept_at(const Lowering& from, const Tensor& tensor, const Array& array, std::size_t element) {
  const auto packed = from.problem.layouts ? from.problem.layouts->packed.find(tensor.name)
                                           : std::map<std::string, PackedOrder, std::less<>>::const_iterator{};
  if (!from.problem.layouts || packed == from.problem.layouts->packed.end()) return element;
  const auto at = static_cast<std::int64_t>(element), columns = array.shape.back();
  return static_cast<std::size_t>(packed_place(at / columns, at % columns, columns, bits_of(tensor.dtype), packed->second));
}

/// Root mean square of the difference over that of the reference.
double difference(const Lowering& from, const TensorMap& tensors, const Folder& folder) {
  double error = 0, size = 0;
  const Kernel& kernel = from.kernel;
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t) {
    if (!is_written(kernel.tensors[t].role)) continue;
    const Array& array = tensors.at(kernel.tensors[t].name).array;
    const auto& expected = array.data;
    std::vector<float> computed(expected.size());
    std::ifstream(folder.path / fmt::format("{}.out", t), std::ios::binary)
        .read(reinterpret_cast<char*>(computed.data()), static_cast<std::streamsize>(4 * computed.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const float found = computed[kept_at(from, kernel.tensors[t], array, i)];
      error += (found - expected[i]) * (found - expected[i]);
      size += expected[i] * expected[i];
    }
  }
  if (error == 0) return 0;
  const double relative = std::sqrt(error / size);
  return std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
}

}  // namespace

std::string plain_text(std::string_view source) {
  std::string text;
  for (const char* name : {"float exp2_poly_", "void bf16_of_i4", "void f16_of_i4", "void bf16_of_i4_halves", "void f16_of_i4_halves",
                           "void f16_of_i8", "float f32_of_i8", "int quotient_of", "int remainder_of"})
    text += definition_of(source, name);
  return text;
}

const std::vector<BankCount>& bank_counts() { return counts; }
int accesses_compared() { return accesses; }

namespace {

/// A kernel's text, its tensors in files, and what eval makes of them.
struct Prepared {
  Program program;
  Emission emission;
  TensorMap tensors;
  std::unique_ptr<Folder> folder;
};
Prepared prepared(const Lowering& from, const BuildOptions& options, std::unique_ptr<Folder> folder = std::make_unique<Folder>()) {
  Prepared p{program_of(from, {}, options), {}, {}, std::move(folder)};
  EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, p.program);
  std::string refused;
  for (const Refusal& refusal : emitted.refusals) refused += refusal.rule + ": " + refusal.sentence + "\n";
  INFO(refused);
  REQUIRE(emitted.emission.has_value());
  p.emission = std::move(*emitted.emission);
  auto tensors = make_tensors(from.kernel, from.problem.params, 3);
  REQUIRE(tensors.ok());
  for (std::size_t t = 0; t < from.kernel.tensors.size(); ++t) {
    const Array& array = tensors->at(from.kernel.tensors[t].name).array;
    std::vector<float> data = array.data;
    for (std::size_t e = 0; e < data.size(); ++e) data[kept_at(from, from.kernel.tensors[t], array, e)] = array.data[e];
    std::ofstream(p.folder->path / std::to_string(t), std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(4 * data.size()));
  }
  REQUIRE(execute(from.kernel, from.problem.params, *tensors).ok());
  p.tensors = std::move(*tensors);
  if (p.emission.launch.sizes) write_sizes(p.emission.launch, from.problem.params, *p.folder);
  return p;
}

/// Whatever copies and products may do late, the answer is the same: the worst difference.
double run_late(const Lowering& from, const Prepared& p, const std::string& run, bool may_fail) {
  double worst = 0;
  std::vector<std::string> times{"", " copies"};
  if (from.problem.arch.starts_with("sm_10")) times.push_back(" products");
  for (const std::string& late : times) {
    const Outcome outcome = run_program(run + late, *p.folder);
    if (may_fail && outcome.code != 0) return std::numeric_limits<double>::infinity();
    INFO(outcome.complaint << late);
    REQUIRE(outcome.code == 0);
    counts = read_bank_counts((p.folder->path / "banks").string());
    worst = std::max(worst, difference(from, p.tensors, *p.folder));
  }
  return worst;
}

}  // namespace

std::int64_t size_of(const std::string& formula, const Scope& params) {
  INFO(formula);
  const auto expr = Expr::parse(formula);
  REQUIRE(expr.ok());
  const auto value = expr->evaluate(params);
  REQUIRE(value.ok());
  return *value;
}

double run_text(const Lowering& from, int blocks, const Wrong& wrong, const BuildOptions& options) {
  const Prepared p = prepared(from, options);
  std::string text = program_text(p.emission, p.emission.source, from.kernel, p.folder->path.string(), blocks);
  if (!wrong.first.empty()) REQUIRE(text.find(wrong.first) != std::string::npos);
  for (std::size_t at = 0; !wrong.first.empty() && (at = text.find(wrong.first, at)) != std::string::npos; at += wrong.second.size())
    text.replace(at, wrong.first.size(), wrong.second);
  const std::string run = compiled(text, *p.folder);
  const double worst = run_late(from, p, run, !wrong.first.empty());
  if (wrong.first.empty()) {
    const BankComparison compared = compare_banks(from, p.program, p.emission, counts);
    accesses += compared.accesses;
    if (std::getenv("HEDDLE_VERBOSE"))
      std::cout << fmt::format("{}: {} accesses met shared memory as predicted, {} so far\n", from.kernel.name, compared.accesses,
                               accesses);
    INFO(fmt::format("{}", fmt::join(compared.differences, "\n")));
    CHECK(compared.differences.empty());
  }
  return worst;
}

double run_with_sizes(const std::string& name, const std::vector<Scope>& sizes, int blocks, BuildOptions options,
                      const ScalarValues& last) {
  options.run_time_sizes = true;
  auto folder = std::make_unique<Folder>();
  std::string source, run;
  double worst = 0;
  for (const Scope& params : sizes) {
    Lowering from = lowering(name, params);
    if (&params == &sizes.back()) from.kernel = with_scalars(from.kernel, last).value();
    Prepared p = prepared(from, options, std::move(folder));
    REQUIRE(p.emission.launch.sizes.has_value());
    if (source.empty()) {
      source = p.emission.source;
      run = compiled(program_text(p.emission, source, from.kernel, p.folder->path.string(), blocks), *p.folder);
    }
    REQUIRE(p.emission.source == source);
    std::string says;
    for (const std::string& size : p.program.sizes) says += fmt::format("{}={} ", size, from.problem.params.at(size));
    INFO(says);
    const double here = run_late(from, p, run, false);
    UNSCOPED_INFO(fmt::format("{}{}: {}", name, says, here));
    worst = std::max(worst, here);
    folder = std::move(p.folder);
  }
  return worst;
}

bool survives(const Lowering& from, int blocks, double tolerance) {
  const Prepared p = prepared(from, {});
  const std::string text = program_text(p.emission, p.emission.source, from.kernel, p.folder->path.string(), blocks);
  const Outcome outcome = run_program("timeout 60 " + compiled(text, *p.folder), *p.folder);
  counts = read_bank_counts((p.folder->path / "banks").string());
  return outcome.code == 0 && difference(from, p.tensors, *p.folder) <= tolerance &&
         compare_banks(from, p.program, p.emission, counts).differences.empty();
}

MutantRun run_mutants(const Lowering& from, int blocks, double tolerance, std::size_t every, const BuildOptions& options) {
  const Prepared p = prepared(from, options);
  std::vector<TextMutant> mutants = text_mutants(p.emission);
  const std::string source = with_switches(p.emission.source, mutants);
  const std::string run =
      "timeout 60 " + compiled(program_text(p.emission, source, from.kernel, p.folder->path.string(), blocks), *p.folder);
  MutantRun result;
  const auto computes = [&](const std::string& environment) {
    fs::remove(p.folder->path / "banks");
    const Outcome outcome = run_program(environment + run, *p.folder);
    counts = read_bank_counts((p.folder->path / "banks").string());
    return outcome.code == 0 && difference(from, p.tensors, *p.folder) <= tolerance;
  };
  REQUIRE(computes(""));
  const std::vector<BankCount> right = counts;
  const BankComparison compared = compare_banks(from, p.program, p.emission, counts);
  INFO(fmt::format("{}", fmt::join(compared.differences, "\n")));
  REQUIRE(compared.differences.empty());
  // Of widths that the text has; matrices have 16.
  const auto has = [&](int least, int most) {
    return std::any_of(right.begin(), right.end(), [&](const BankCount& c) {
      return c.bytes >= least && c.bytes <= most && c.kind != "product" && !c.kind.starts_with("box");
    });
  };
  const auto rule = [&](const char* variable, int lanes) {
    const std::string says = fmt::format("{}={}", variable, lanes);
    mutants.push_back({"the rule of phases: " + says, 0, 0, {}, {}, says});
  };
  if (has(1, 4)) rule("HEDDLE_LANES_4", 16);
  if (has(8, 8)) rule("HEDDLE_LANES_8", 32), rule("HEDDLE_LANES_8", 8);
  if (has(16, 16)) rule("HEDDLE_LANES_16", 16), rule("HEDDLE_LANES_16", 4);
  for (std::size_t m = 0; m < p.emission.launch.maps.size(); ++m)
    for (const int span : {0, 32, 64, 128})
      if (const int is = p.emission.launch.maps[m].swizzle; span != is)
        mutants.push_back({fmt::format("map {} has a swizzle of {} bytes, not {}", m, span, is),
                           0,
                           0,
                           {},
                           {},
                           fmt::format("HEDDLE_SPAN={}:{}", m, span)});
  for (std::size_t m = 0; m < mutants.size(); m += every) {
    ++result.count;
    const std::string environment = mutants[m].environment.empty() ? fmt::format("HEDDLE_MUTANT={} ", m + 1) : mutants[m].environment + " ";
    if (computes(environment) && counts == right) result.survivors.push_back(from.kernel.name + ": " + mutants[m].what);
  }
  return result;
}

double run_text(const std::string& name, const Scope& sizes, int blocks, const Wrong& wrong, const BuildOptions& options) {
  return run_text(lowering(name, sizes), blocks, wrong, options);
}

std::vector<Outcome> run_emulated(const std::string& text, const std::vector<std::string>& arguments) {
  const Folder folder;
  const std::string head = fmt::format("#include \"{}\"\n", repository_path("tests/codegen/emulator/tensor_memory.h"));
  const std::string run = compiled(head + descriptor_wrappers({}) + text, folder);
  std::vector<Outcome> outcomes;
  for (const std::string& argument : arguments) outcomes.push_back(run_program(run + " " + argument, folder));
  return outcomes;
}

}  // namespace heddle::test
