// PTX texts as they are read: directives, scopes of inline assembly, labels, operands of every kind, places in the source, and what is
// said of texts that are broken.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "ptx/text/operands.h"
#include "ptx/text/parse.h"

using namespace heddle;
using namespace heddle::ptx;
using Kind = PtxOperand::Kind;

namespace {

PtxModule read(const std::string& text) {
  auto module = parse(text, "test.ptx");
  REQUIRE(module.ok());
  return std::move(module.value());
}

/// An entry with registers %r0..%r99, %rd, %f, %p, a parameter and a variable in shared memory.
std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n"
         ".visible .entry kernel(\n.param .u64 pointer,\n.param .align 64 .b8 map[128])\n{\n"
         ".reg .pred %p<10>; .reg .b32 %r<100>; .reg .b64 %rd<100>; .reg .f32 %f<100>;\n" +
         body + "\nret;\n}\n";
}

/// The first instruction of such an entry.
PtxInstruction first(const std::string& instruction) { return read(kernel(instruction)).functions[0].code[0]; }

std::string name_of(const PtxModule& module, const PtxOperand& operand) {
  return std::string(module.functions[0].registers[operand.reg.index()].name);
}

std::string fault_of(const std::string& text) {
  const auto module = parse(text, "test.ptx");
  REQUIRE_FALSE(module.ok());
  REQUIRE(module.error().faults.size() == 1);
  return module.error().faults[0].message;
}

}  // namespace

TEST_CASE("version, target, files, variables and parameters of a module are read", "[ptx]") {
  const PtxModule module = read(R"(//
// a comment with { braces
/* and one
   of two lines } */
.version 8.7
.target sm_90a, texmode_independent
.address_size 64
.file 1 "first.cu"
.file 2 "folder" "second.py"
.file 3 "third \"quoted\".h", 1234, 5678
.extern .shared .align 1024 .b8 dynamic[];
.shared .align 16 .b8 fixed[4][32];
.global .align 4 .u32 counters[3] = {1, 0x10, -1};
.const .f32 half = 0f3F000000;
.global .u64 address = fixed;
.visible .global .attribute(.managed) .b16 many[] = {1, 2, 3};
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 list);
.visible .entry kernel(
  .param .u32 first,
  .param .u64 .ptr .global .align 16 second,
  .param .align 128 .b8 third[1792]
)
.maxntid 384, 1, 1
.minnctapersm 1
.pragma "nounroll";
.maxnreg 168
.explicitcluster
.reqnctapercluster 2, 1
{
  ret;
}
.section .debug_str { $L__info_string0: .b8 95,90,0 }
)");
  CHECK(module.version == "8.7");
  CHECK(module.target == "sm_90a");
  CHECK(module.files == std::vector<std::string>{"", "first.cu", "folder/second.py", "third \\\"quoted\\\".h"});
  REQUIRE(module.variables.size() == 7);  // the last is vprintf's result
  CHECK(module.variables[0].external);
  CHECK(module.variables[0].bytes == 0);
  CHECK(module.variables[0].align == 1024);
  CHECK(module.variables[1].name == "fixed");
  CHECK(module.variables[1].bytes == 128);
  CHECK_FALSE(module.variables[1].external);
  CHECK(module.variables[2].contents == std::vector<std::uint8_t>{1, 0, 0, 0, 16, 0, 0, 0, 255, 255, 255, 255});
  CHECK(module.variables[3].space == PtxVariable::Space::Const);
  CHECK(module.variables[3].contents == std::vector<std::uint8_t>{0, 0, 0, 0x3F});
  CHECK(module.variables[4].bytes == 8);
  CHECK(module.variables[4].contents.empty());  // an address: not known yet
  CHECK(module.variables[5].bytes == 6);
  CHECK(module.variables[6].space == PtxVariable::Space::Local);
  REQUIRE(module.functions.size() == 1);
  const PtxFunction& function = *module.find("kernel");
  CHECK(function.entry);
  REQUIRE(function.parameters.size() == 3);
  CHECK(function.parameters[1].at == 8);
  CHECK(function.parameters[1].pointer);
  CHECK(function.parameters[1].align == 8);  // .align behind .ptr is that of what it points to
  CHECK(function.parameters[2].at == 128);
  CHECK(function.parameter_bytes == 1920);
  CHECK(function.threads[0] == 384);
  CHECK_FALSE(function.threads_required);
  CHECK(function.cluster[0] == 2);
  CHECK(function.cluster[2] == 1);
  CHECK(function.maxnreg == 168);
  CHECK(module.find("nobody") == nullptr);
}

TEST_CASE("threads that are required go before those that are the most", "[ptx]") {
  const PtxModule module = read(".version 9.0\n.entry k() .reqntid 128, 2 .maxntid 512 { ret; }");
  CHECK(module.functions[0].threads_required);
  CHECK(module.functions[0].threads[0] == 128);
  CHECK(module.functions[0].threads[1] == 2);
  CHECK(module.functions[0].threads[2] == 1);
}

TEST_CASE("numbers are read in every way that PTX writes them", "[ptx]") {
  CHECK(number_bits("0") == 0u);
  CHECK(number_bits("42U") == 42u);
  CHECK(number_bits("0xFFu") == std::nullopt);
  CHECK(number_bits("0x1fU") == 31u);
  CHECK(number_bits("0b101") == 5u);
  CHECK(number_bits("017") == 15u);
  CHECK(number_bits("18446744073709551615") == ~0ull);
  CHECK(number_bits("18446744073709551616") == std::nullopt);
  CHECK(number_bits("0f3F800000") == 0x3F800000u);
  CHECK(number_bits("0F3f800000") == 0x3F800000u);
  CHECK(number_bits("0d3FF0000000000000") == 0x3FF0000000000000u);
  CHECK(number_bits("1.0", Scalar::F32) == 0x3F800000u);
  CHECK(number_bits("1.5e-1", Scalar::F64) == 0x3FC3333333333333u);
  CHECK(number_bits("0x") == std::nullopt);
  CHECK(number_bits("09") == std::nullopt);
  CHECK(number_bits("") == std::nullopt);
  CHECK(first("add.s32 %r1, %r2, -5;").operands[2].immediate == static_cast<std::uint64_t>(-5));
  CHECK(first("mov.f32 %f1, -0f3F800000;").operands[1].immediate == 0xBF800000u);
  CHECK(first("mov.f32 %f1, -1.0;").operands[1].immediate == 0xBF800000u);
  CHECK(first("add.rn.f32 %f1, %f2, 2.5e+1;").operands[2].immediate == 0x41C80000u);
}

TEST_CASE("operands of every kind are read", "[ptx]") {
  CHECK(first("mov.u32 %r1, %tid.x;").operands[1].special == Special::TidX);
  CHECK(first("mov.u32 %r1, WARP_SZ;").operands[1].special == Special::WarpSize);
  CHECK(first("mov.u32 %r1, %clock_hi;").operands[1].special == Special::Other);
  CHECK(first("mov.u32 %r1, %envreg3;").operands[1].special == Special::Other);
  CHECK(first("mov.u32 %r1, memory;").operands[1].kind == Kind::Variable);
  CHECK(first("mov.u32 %r1, memory+4;").operands[1].offset == 4);
  CHECK(first("mov.b64 %rd1, map;").operands[1].kind == Kind::Parameter);
  CHECK(first("mov.b64 %rd1, map;").operands[1].index == 1);
  CHECK(first("and.pred %p1, %p2, !%p3;").operands[2].negated);

  const PtxInstruction load = first("ld.param.u64 %rd1, [map+-8];");
  CHECK(load.operands[1].kind == Kind::Address);
  CHECK(load.operands[1].parts[0].kind == Kind::Parameter);
  CHECK(load.operands[1].offset == -8);
  CHECK(first("ld.shared.u32 %r1, [1024];").operands[1].parts[0].immediate == 1024);
  CHECK(first("ld.shared.u32 %r1, [%r2 - 16];").operands[1].offset == -16);

  const PtxInstruction pair = first("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;");
  REQUIRE(pair.operands.size() == 4);
  CHECK(pair.operands[0].kind == Kind::Pair);
  CHECK(pair.operands[0].parts.size() == 2);
  const PtxInstruction elect = first("elect.sync _|%p1, 0xffffffff;");
  CHECK(elect.operands[0].parts[0].kind == Kind::Sink);

  const PtxInstruction copy = first(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3, 4, %r5}], [%r6+8], "
      "{%r7, "
      "%r8};");
  REQUIRE(copy.operands.size() == 4);
  REQUIRE(copy.operands[1].parts.size() == 2);
  CHECK(copy.operands[1].parts[1].kind == Kind::Vector);
  CHECK(copy.operands[1].parts[1].parts[2].immediate == 4);
  CHECK(copy.operands[2].offset == 8);
  CHECK(copy.operands[3].parts.size() == 2);
  CHECK(copy.has("shared::cluster"));
  CHECK(copy.has("mbarrier::complete_tx::bytes"));
  CHECK_FALSE(copy.has("shared"));

  const PtxInstruction guarded = first("@!%p1 st.shared.v4.f32 [%r1], {%f1, %f2, _, %f4};");
  CHECK(guarded.guard.valid());
  CHECK(guarded.guard_negated);
  CHECK(guarded.operands[1].parts[2].kind == Kind::Sink);
  CHECK(guarded.text == "@!%p1 st.shared.v4.f32 [%r1], {%f1, %f2, _, %f4}");
}

TEST_CASE("calls are read: results, functions, arguments, prototypes", "[ptx]") {
  const PtxModule module = read(
      ".version 9.0\n.func (.reg .b32 out) helper(.param .b32 in) { .reg .b32 t; ld.param.b32 t, [in]; mov.b32 out, t; ret; }\n"
      ".entry k() {\n.reg .b32 %r<5>; .reg .b64 %rd<2>; .param .b32 argument;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call.uni (%r1), helper, (argument);\ncall (%r2), %rd1, (%r3, %r4), proto;\ncall helper;\nret;\n}\n");
  REQUIRE(module.functions.size() == 2);
  CHECK_FALSE(module.functions[0].entry);
  CHECK(module.functions[0].code[1].fault.empty());
  const auto& code = module.functions[1].code;
  REQUIRE(code.size() == 4);
  for (const PtxInstruction& instruction : code) CHECK(instruction.fault == "");
  CHECK(code[0].operands[1].kind == Kind::Function);
  CHECK(code[0].operands[2].parts[0].kind == Kind::Variable);
  CHECK(code[1].operands[3].kind == Kind::Label);
  CHECK(registers_of(code[1]).written.size() == 1);
  CHECK(registers_of(code[1]).read.size() == 3);
}

TEST_CASE("registers and labels of inline assembly are those of their braces", "[ptx]") {
  const PtxModule module = read(kernel(R"(
bra WAIT;
{
  .reg .pred done; .reg .b32 %r<3>;
  mov.b32 %r1, 7;
  { .reg .b32 %r2; mov.b32 %r2, %r1; }
  mov.b32 %r5, %r2;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], 0;
  @done bra DONE;
  bra WAIT;
DONE:
}
WAIT:
mov.b32 %r1, %r2;
{ .reg .pred done; WAIT: @done bra WAIT; @%p1 bra DONE; }
)"));
  const PtxFunction& function = module.functions[0];
  const auto& code = function.code;
  REQUIRE(code.size() == 11);
  CHECK(code[0].targets == std::vector<int>{7});  // the outer label, though the inner one stands first
  CHECK(code[6].targets == std::vector<int>{4});
  CHECK(code[5].targets == std::vector<int>{7});
  CHECK(code[8].targets == std::vector<int>{8});
  CHECK(code[9].fault == "unknown label DONE");
  CHECK(code[1].operands[0].reg != code[7].operands[0].reg);  // %r1 inside and outside
  CHECK(code[2].operands[1].reg == code[1].operands[0].reg);
  CHECK(code[2].operands[0].reg != code[3].operands[1].reg);  // %r2 of the inner braces, and of those around them
  CHECK(name_of(module, code[3].operands[0]) == "%r5");       // beyond the inner count: the function's own
  CHECK(code[5].guard != code[8].guard);
}

TEST_CASE("tables of branch targets are read, whichever name is longer", "[ptx]") {
  const PtxModule module = read(kernel(R"(
.reg .b32 %r1<5>;
mov.b32 %r12, %r1;
brx.idx %r12, table;
table: .branchtargets ONE, TWO, ONE;
ONE: mov.b32 %r1, 1;
TWO: brx.idx %r1, nowhere;
)"));
  const auto& code = module.functions[0].code;
  CHECK(code[1].targets == std::vector<int>{2, 3, 2});
  CHECK(code[3].fault == "no .branchtargets at label nowhere");
}

TEST_CASE("instructions know their place in the source and where it was inlined", "[ptx]") {
  const PtxModule module = read(kernel(R"(
mov.b32 %r0, 0;
.loc 1 155 5
mov.b32 %r1, 1;
.loc 1 40 7, function_name $L__info_string1, inlined_at 1 155 5
.loc 2 17 3, function_name $L__info_string0+12, inlined_at 1 40 7
mov.b32 %r2, 1;
.loc 2 18 3, function_name $L__info_string0, inlined_at 3 9 9
{ mov.b32 %r3, 1; }
.loc 1 155 5
mov.b32 %r4, 1;)"));
  const PtxFunction& function = module.functions[0];
  const auto place = [&](std::size_t pc) { return function.places[static_cast<std::size_t>(function.code[pc].place)]; };
  CHECK(function.code[0].place == -1);
  CHECK(place(1) == SourcePlace{1, 155, 5, -1});
  CHECK(place(2).line == 17);
  const SourcePlace middle = function.places[static_cast<std::size_t>(place(2).inlined_into)];
  CHECK(middle.line == 40);
  CHECK(function.places[static_cast<std::size_t>(middle.inlined_into)] == SourcePlace{1, 155, 5, -1});
  CHECK(function.places[static_cast<std::size_t>(place(3).inlined_into)] == SourcePlace{3, 9, 9, -1});
  CHECK(function.code[4].place == function.code[1].place);
  CHECK(function.code[1].line == 13);
  CHECK(function.code[3].line == 18);
}

TEST_CASE("what cannot be read of an instruction is its own fault, and the next one is read", "[ptx]") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"add.s32 %r1, %r2, %x7;", "unknown register %x7"},
      {"add.s32 %r1, %r2, %r100;", "unknown register %r100"},
      {"add.s32 %r1, %r2, %r01;", "unknown register %r01"},
      {"add.s32 %r1, name;", "unknown name name"},
      {"add.s32 %r1 %r2;", "expected ',' or ';' at '%r2'"},
      {"add.s32 %r1, ;", "expected an operand at ';'"},
      {"st.shared.v2.b32 [%r1], {%r2, %r3;", "expected ',' or '}' at ';'"},
      {"st.shared.b32 [%r1, %r2;", "expected ',' or ']' at ';'"},
      {"st.shared.b32 [%r1+%r2], 0;", "expected a number of bytes at '%r2'"},
      {"@%q bra NOWHERE;", "unknown register %q"},
      {"bra NOWHERE;", "unknown label NOWHERE"},
      {"bra 7;", "expected a label at '7'"},
      {"mov.b32 %r1, 99999999999999999999;", "'99999999999999999999' is no number of 64 bits"},
      {"?;", "no instruction begins with '?'"},
      {"7up %r1;", "no instruction begins with '7up'"},
      {"mov.b32 %r1, {{{{{{{{%r1}}}}}}}};", "lists inside lists inside lists"},
      {"mov." + std::string(1000, 'b') + " %r1;", "no instruction begins with 'mov." + std::string(56, 'b') + "...'"},
      {"mov.b32 %r1, !4;", "'4' is no predicate"},
  };
  for (const auto& [text, fault] : wrong) {
    const PtxModule module = read(kernel(text + "\nmov.b32 %r1, 1;"));
    CHECK(module.functions[0].code.size() == 3);
    CHECK(module.functions[0].code[0].fault == fault);
    CHECK(module.functions[0].code[1].fault == "");
  }
  const PtxModule twice = read(kernel("TWICE: mov.b32 %r1, 1; TWICE: bra TWICE;"));
  CHECK(twice.functions[0].code[1].fault == "two labels are called TWICE");
  CHECK(first("frobnicate.b32 %r1, %r2;").fault == "");  // refused where it is executed
  CHECK(first("frobnicate.b32 %r1, %r2;").opcode == Opcode::Unknown);
}

TEST_CASE("a text without structure is refused with its line", "[ptx]") {
  CHECK(fault_of("") == "line 1: expected a function (.entry or .func); there is none");
  CHECK(fault_of(".version 9.0\n.entry k() {\nret;\n") == "line 2: the brace that opens here does not close");
  CHECK(fault_of(".version 9.0\n.entry k() {\n{\nret;\n}") == "line 2: the brace that opens here does not close");
  CHECK(fault_of(".version 9.0\n.entry k() {\nret; }\n}") == "line 4: expected a directive at '}'");
  CHECK(fault_of(".version 9.0\n/* never\nclosed") == "line 2: a comment that begins here does not close");
  CHECK(fault_of(".entry k() {\nret;\n.pragma \"half") == "line 3: a string that begins here does not close");
  CHECK(fault_of(".entry () { ret; }") == "line 1: expected the name of the function that begins here");
  CHECK(fault_of(".entry k(.param .u64) { ret; }") == "line 1: expected the name of a parameter at ')'");
  CHECK(fault_of(".entry k(.param .u64 a") == "line 1: expected ',' or ')' behind a parameter where the text ends");
  CHECK(fault_of(".global .b32 x[;\n.entry k() {}") == "line 1: expected the number of elements at ';'");
  CHECK(fault_of(".section .debug_str {\n") == "line 1: the section that begins here does not end");
  CHECK(fault_of("hello") == "line 1: expected a directive at 'hello'");
  CHECK(fault_of(std::string("\0\0", 2)) == "line 1: expected a directive at '?'");
  CHECK(fault_of(".entry k() " + std::string(300, '{')) == "line 1: more than 200 braces inside each other");
}

TEST_CASE("an alignment that is none is refused with its line, wherever the variable stands", "[ptx]") {
  for (const std::string declaration : {".shared .align 3 .b8 crooked[16];", ".local .align 0 .b8 crooked[16];"}) {
    const auto inside = parse(kernel(declaration), "test.ptx");
    REQUIRE_FALSE(inside.ok());
    CHECK_THAT(to_string(inside.error()), Catch::Contains("line 10") && Catch::Contains("an alignment"));
    CHECK_FALSE(parse(declaration + kernel(""), "test.ptx").ok());
  }
  CHECK(parse(kernel(".shared .align 4 .b8 straight[16];"), "test.ptx").ok());
}

TEST_CASE("the mark that some editors put before a text is left out", "[ptx]") {
  CHECK(read("\xEF\xBB\xBF" + kernel("")).functions.size() == 1);
}
