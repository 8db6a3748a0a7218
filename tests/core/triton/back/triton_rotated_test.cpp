// Loops of Triton kernels that are written anew in their own Python. What the written loops compute is compared with what the kernels
// compute by tests/triton/rotated_loops.py, from the golden files of these tests.
#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <random>

#include "core/base/atomic_file.h"
#include "core/triton/back/rotated.h"
#include "tests/support/golden.h"
#include "tests/support/mutate_text.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

std::string file_text(const std::string& name) {
  const Result<std::string> text = read_file(test::repository_path("tests/triton/texts/" + name));
  REQUIRE(text.ok());
  return *text;
}

const std::string& python() {
  static const std::string text = file_text("rotated/rotated.py");
  return text;
}

TritonProgram program_of(const std::string& text, const std::string& file = "text.ttgir") {
  Result<mlir::Module> module = mlir::parse(text, file);
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  program->file = file;
  return *std::move(program);
}

std::string text_of(const std::string& name) { return file_text("rotated/" + name + ".ttgir"); }

Result<RotatedLoop> rotated(const std::string& text, const std::string& source = python(), std::string_view remark = {},
                            std::size_t loop = 0) {
  const TritonProgram program = program_of(text);
  REQUIRE(program.loops.size() > loop);
  return rotated_loop(program, program.loops[loop], source, remark);
}

/// Every place of `from` replaced; there must be one.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

/// One line of the source in place of another.
std::string with_line(int number, const std::string& line) {
  std::string text = python();
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

/// The first of several loops has lines 16 to 26: 16 the head, 18 the first product, 25 the second.
void refuses(const Result<RotatedLoop>& result, const std::string& pointer, const std::string& words) {
  REQUIRE_FALSE(result.ok());
  REQUIRE(result.error().faults.size() == 1);
  const Fault& fault = result.error().faults[0];
  INFO(to_string(fault));
  CHECK(fault.file == "rotated.py");
  CHECK(fault.pointer == pointer);
  CHECK(fault.message.find(words) != std::string::npos);
}
void refuses_line(int number, const std::string& line, const std::string& words, int where = 0) {
  refuses(rotated(text_of("attention_descriptors.sm90.scheduled"), with_line(number, line)), std::to_string(where ? where : number), words);
}

std::string code_of(const std::string& text) {
  std::string code;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
    if (text.compare(text.find_first_not_of(" \t", begin), 1, "#") != 0) code += text.substr(begin, text.find('\n', begin) + 1 - begin);
  return code;
}

bool note_with(const RotatedLoop& loop, const std::string& words) {
  return std::any_of(loop.notes.begin(), loop.notes.end(), [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("the loops of attention forward and backward are rotated as they stand in the golden files", "[triton][golden]") {
  for (const char* name : {"attention_descriptors", "attention_pointers_causal", "attention_bounds", "attention_stages",
                           "attention_backward", "attention_half"}) {
    const Result<RotatedLoop> loop = rotated(text_of(std::string(name) + ".sm90.scheduled"));
    INFO(name << (loop.ok() ? "" : to_string(loop.error())));
    REQUIRE(loop.ok());
    CHECK(test::golden_difference(std::string("rotated_") + name + ".py", loop->text).empty());
    CHECK(loop->file == "rotated.py");
    const bool waits = std::string(name) == "attention_half";
    CHECK(note_with(*loop, waits ? "nothing overlaps" : "Triton 3.4.0, 3.6.0 and 3.9.0"));
    CHECK(note_with(*loop, waits ? "through shared memory" : "not run on a GPU"));
  }
}

TEST_CASE("the lines that a rotated loop stands for are those of the loop, from its head to its end", "[triton]") {
  const Result<RotatedLoop> loop = rotated(text_of("attention_descriptors.sm90.scheduled"));
  REQUIRE(loop.ok());
  CHECK(loop->first_line == 16);
  CHECK(loop->last_line == 26);
}

TEST_CASE("every form and version of a text gives the same rotated loop", "[triton]") {
  const auto same = [](const std::string& a, const std::string& b) {
    const Result<RotatedLoop> first = rotated(text_of(a)), second = rotated(text_of(b));
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(first->text == second->text);
  };
  same("attention_descriptors.sm90.scheduled", "attention_descriptors.sm90.triton-3.4.0.input");
  same("attention_backward.sm90.scheduled", "attention_backward.sm90.final");
  same("attention_stages.sm90.scheduled", "attention_stages.sm90.triton-3.6.0.scheduled");
}

TEST_CASE("a loop in a function that is called twice is rotated once, from either call", "[triton]") {
  const std::string text = text_of("attention_stages.sm90.scheduled");
  const Result<RotatedLoop> first = rotated(text, python(), {}, 0), second = rotated(text, python(), {}, 1);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first->text == second->text);
}

TEST_CASE("a remark stands in the comments, a line each", "[triton]") {
  const Result<RotatedLoop> loop = rotated(text_of("attention_descriptors.sm90.scheduled"), python(), "One.\nTwo.");
  REQUIRE(loop.ok());
  CHECK(loop->text.find("    # One.\n    # Two.\n    old = ") != std::string::npos);
}

TEST_CASE("line ends, tabs and letters of other alphabets are kept out of the way", "[triton]") {
  const std::string text = text_of("attention_descriptors.sm90.scheduled");
  const Result<RotatedLoop> plain = rotated(text);
  REQUIRE(plain.ok());
  const Result<RotatedLoop> crlf = rotated(text, "\xEF\xBB\xBF" + edited(python(), "\n", "\r\n"));
  REQUIRE(crlf.ok());
  CHECK(crlf->text == plain->text);
  const Result<RotatedLoop> tabs = rotated(text, edited(python(), "    ", "\t"));
  REQUIRE(tabs.ok());
  CHECK(code_of(tabs->text) == edited(code_of(plain->text), "    ", "\t"));
  const Result<RotatedLoop> greek = rotated(text, edited(python(), "higher", "\xCE\xBC"));
  REQUIRE(greek.ok());
  CHECK(code_of(greek->text) == edited(code_of(plain->text), "higher", "\xCE\xBC"));
}

TEST_CASE("names that are added are names that the source does not have", "[triton]") {
  const std::string source = with_line(10, "    at_before = first + tl.program_id(0) * BM; row = at_before");
  const Result<RotatedLoop> loop = rotated(text_of("attention_descriptors.sm90.scheduled"), source);
  REQUIRE(loop.ok());
  CHECK(loop->text.find("at_before_ = at - BN") != std::string::npos);
}

TEST_CASE("a loop whose variable had a value before leaves that value alone", "[triton]") {
  const std::string source = with_line(8, "    head = at = tl.program_id(1)");
  const Result<RotatedLoop> loop = rotated(text_of("attention_descriptors.sm90.scheduled"), source);
  REQUIRE(loop.ok());
  CHECK(loop->text.find("at_first = tl.cast(0, tl.int32)\n        s = tl.dot(tq, k.load([first + at_first, 0]).T)") != std::string::npos);
}

TEST_CASE("a name that has its value before the loop gets no other", "[triton]") {
  const std::string source = with_line(8, "    head = tl.program_id(1); p = tl.zeros((BM, BN), dtype=tl.float32)");
  const Result<RotatedLoop> loop = rotated(text_of("attention_descriptors.sm90.scheduled"), source);
  REQUIRE(loop.ok());
  CHECK(loop->text.find("p = tl.zeros") == std::string::npos);
  CHECK(loop->text.find("old = tl.zeros") != std::string::npos);
}

TEST_CASE("bounds that the loop itself changes are kept in front of it", "[triton]") {
  const std::string source = with_line(26, "        keys = keys + 1");
  const Result<RotatedLoop> loop = rotated(text_of("attention_descriptors.sm90.scheduled"), source);
  REQUIRE(loop.ok());
  CHECK(loop->text.find("    at_high = keys\n") != std::string::npos);
  CHECK(loop->text.find("if at_high > 0:") != std::string::npos);
}

TEST_CASE("the notes say when Triton waits for the mma all the same", "[triton]") {
  // V is loaded in the stage of its use: there is no ring for it.
  std::string text = text_of("attention_descriptors.sm90.scheduled");
  const std::size_t load = text.find("tt.descriptor_load %v");
  REQUIRE(load != std::string::npos);
  const std::size_t stage = text.find("loop.stage = 0", load);
  REQUIRE(stage < text.find('\n', load));
  text.replace(stage, 14, "loop.stage = 2");
  const Result<RotatedLoop> loop = rotated(text);
  REQUIRE(loop.ok());
  CHECK(note_with(*loop, "Triton waits for the mma of line 25 at once: an operand is not loaded ahead"));
  CHECK(note_with(*loop, "nothing overlaps"));
  CHECK_FALSE(note_with(*loop, "asynchronous"));
}

TEST_CASE("a loop that has nothing to rotate says so", "[triton]") {
  refuses(rotated(text_of("swiglu.sm90.scheduled")), "99", "none of the mmas of lines 101 and 102 needs another's result");
  const auto refused = [](const std::string& name, const std::string& words) {
    const TritonProgram program = program_of(file_text(name));
    REQUIRE_FALSE(program.loops.empty());
    const mlir::Module& module = *program.module;
    const int line = module.location(module.op(program.loops[0].op)).line;
    std::string source(static_cast<std::size_t>(std::max(line, 1) - 1), '\n');
    source += "    for at in tl.range(0, n, B):\n" + std::string(200, '\n') + "        x = y\n";
    const Result<RotatedLoop> loop = rotated_loop(program, program.loops[0], source);
    REQUIRE_FALSE(loop.ok());
    INFO(to_string(loop.error()));
    CHECK(to_string(loop.error()).find(words) != std::string::npos);
  };
  refused("attention_forward.sm100.scheduled.ttgir", "the text is for sm_100");
  refused("attention_forward_pointers.sm80.scheduled.ttgir", "the text is for sm_80");
  refused("more/gemm_dequant.sm90.scheduled.ttgir", "no locations");
}

TEST_CASE("a loop that counts down is refused, also where only Triton's text shows it", "[triton]") {
  for (const char* form : {"scheduled", "final"})
    refuses(rotated(text_of(std::string("attention_down.sm90.") + form)), "180", "the loop counts down");
}

TEST_CASE("a loop of Gluon is left alone", "[triton]") {
  refuses(rotated(text_of("attention_descriptors.sm90.scheduled"), edited(python(), "@triton.jit", "@gluon.jit")), "16", "one of Gluon");
}

TEST_CASE("statements that cannot be told apart are refused with their line", "[triton]") {
  const std::string text = text_of("attention_descriptors.sm90.scheduled");
  refuses(rotated(edited(text, "\"rotated.py\":25:", "\"rotated.py\":18:")), "18", "holds 2 mmas");
  refuses_line(26, "        while top: pass", "'while' in the loop");
  refuses_line(26, "        for i in top: pass", "'for' in the loop");
  refuses_line(26, "        return higher", "'return' in the loop");
  refuses_line(26, "        if head: top = higher", "a block in the line of its head");
  refuses_line(26, "        top[0] = higher", "no name");
  refuses_line(26, "        q.x = higher", "no name");
  refuses_line(26, "        top = (high := higher)", "an assignment inside an expression");
  refuses_line(26, "        top = [x for x in higher]", "'for' inside an expression");
  refuses_line(26, "        top = (lambda x: x)(higher)", "'lambda' inside an expression");
  refuses_line(26, "        top = higher; tl.static_print(f\"{top}\")", "formatted string");
  refuses_line(26, "          top = higher", "indentation");
  refuses_line(16, "    for at, x in tl.range(0, keys, BN, num_stages=stages):", "head of the loop");
  refuses_line(16, "    for at in zip(keys, BN, num_stages=stages):", "head of the loop");
  refuses_line(16, "    for at in tl.range(*keys):", "head of the loop");
  refuses_line(16, "    for at in tl.range(0, keys, BN): s = 1", "head of the loop");
  refuses_line(16, "    for at in tl.range(keys, 0, -BN, num_stages=stages):", "counts down");
  refuses_line(27, "    else: pass", "'else'");
}

TEST_CASE("an order that would change what is computed is refused with both lines", "[triton]") {
  // What the second product leaves is needed for the first one.
  refuses_line(18, "        s = tl.dot(tq, k.load([first + at, 0]).T) + acc", "needs in line 18 what line 25 made an iteration before");
  // One name for two things.
  refuses_line(23, "        acc = acc * old[:, None]; s = acc", "'s' is assigned for two purposes, in lines 18 and 23");
  // Memory.
  refuses_line(26, "        top = higher; tl.store(lse + row, top)", "one of them stores", 25);
  // The early product itself, an iteration later.
  refuses_line(23, "        acc = acc * old[:, None] + s", "'s', the mma of line 18, is needed again");
}

TEST_CASE("a tile that both mmas read is refused with what to do", "[triton]") {
  const std::string text = text_of("attention_backward.sm90.scheduled");
  const std::string source = edited(python(), "tl.dot(ds.to(tl.bfloat16), tq_again, adk)", "tl.dot(ds.to(tl.bfloat16), tq, adk)");
  const Result<RotatedLoop> loop = rotated(text, source);
  refuses(loop, "127", "'tq' of line 118 would be needed an iteration later");
  CHECK(loop.error().faults[0].hint == "load it a second time for line 127, under another name");
}

TEST_CASE("a source that is not the text's is refused", "[triton]") {
  const std::string text = text_of("attention_descriptors.sm90.scheduled");
  refuses(rotated(text, ""), "16", "not the source that the text was made from");
  refuses(rotated(text, "x = 1\n"), "16", "not the source that the text was made from");
  refuses(rotated(text, "\n" + python()), "16", "not the source that the text was made from");
  refuses_line(25, "        # gone", "where no statement is");
  CHECK_FALSE(rotated(text, with_line(25, "        \"\"\"never ended")).ok());
}

TEST_CASE("where the Python source is looked for", "[triton]") {
  namespace fs = std::filesystem;
  const std::string text = text_of("attention_descriptors.sm90.scheduled");
  const std::string folder = test::repository_path("tests/triton/texts/rotated");
  const TritonProgram program = program_of(text, folder + "/x.ttgir");
  CHECK(python_file(program, program.loops[0]) == "rotated.py");
  const Result<PythonSource> beside = read_python(program, program.loops[0], {});
  REQUIRE(beside.ok());
  CHECK(fs::path(beside->path) == fs::path(folder) / "rotated.py");
  CHECK(beside->text == python());
  const Result<PythonSource> named = read_python(program, program.loops[0], folder + "/README.md");
  REQUIRE(named.ok());
  CHECK(named->text.starts_with("# Texts"));
  CHECK_FALSE(read_python(program, program.loops[0], folder + "/none.py").ok());

  const TritonProgram away = program_of(text, "nowhere/x.ttgir");
  const Result<PythonSource> none = read_python(away, away.loops[0], {});
  REQUIRE_FALSE(none.ok());
  INFO(to_string(none.error()));
  CHECK(to_string(none.error()).find("looked for rotated.py, nowhere/rotated.py") != std::string::npos);
  CHECK(none.error().faults.front().part == "python source");

  // A text may name any file; only Python files are opened for it.
  const TritonProgram curious = program_of(edited(text, "\"rotated.py\"", "\"" + folder + "/README.md\""), "x.ttgir");
  const Result<PythonSource> refused = read_python(curious, curious.loops[0], {});
  REQUIRE_FALSE(refused.ok());
  CHECK(to_string(refused.error()).find("looked for") == std::string::npos);
}

TEST_CASE("long sources and long loops take no long time", "[triton]") {
  const std::string text = text_of("attention_descriptors.sm90.scheduled");
  const auto lines = [](int count) {
    std::string many;
    for (int i = 0; i < count; ++i) many += "    x = " + std::to_string(i) + "\n";
    return many;
  };
  // Ten times as long takes about ten times as long, on a busy machine too.
  const auto ticks = [&](int count) {
    const std::string source = python() + "\n\ndef f():\n" + lines(count);
    const std::clock_t begin = std::clock();
    CHECK(rotated(text, source).ok());
    return std::max<std::clock_t>(1, std::clock() - begin);
  };
  const std::clock_t few = ticks(10'000);
  CHECK(ticks(100'000) < 40 * few);
  const std::string many = lines(100'000);
  const Result<RotatedLoop> inside = rotated(text, with_line(26, "        top = higher\n" + edited(many, "    x", "        x")));
  refuses(inside, "16", "at most 400 are read");
  CHECK_FALSE(rotated(text, with_line(26, "        top = " + std::string(100'000, '(') + "higher")).ok());
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += std::string(static_cast<std::size_t>(8 + i), ' ') + "if top:\n";
  CHECK_FALSE(rotated(text, with_line(26, deep + std::string(3000, ' ') + "top = higher")).ok());
}

TEST_CASE("damaged sources are answered or refused", "[triton]") {
  std::mt19937_64 random(21);
  std::vector<TritonProgram> programs;
  for (const char* name : {"attention_descriptors", "attention_pointers_causal", "attention_stages", "attention_backward"})
    programs.push_back(program_of(text_of(std::string(name) + ".sm90.scheduled")));
  std::size_t answered = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string source = test::mutate_text(python(), {python()}, random);
    for (const TritonProgram& program : programs) {
      const Result<RotatedLoop> loop = rotated_loop(program, program.loops[0], source);
      if (loop.ok())
        ++answered;
      else
        CHECK_FALSE(loop.error().faults.empty());
    }
  }
  CHECK(answered > 100);
}
