// The printed assembly of MLIR is read without knowing its ops, every span is exact, and what is wrong is said with line and column.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "core/base/atomic_file.h"
#include "core/mlir/module.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::mlir;

namespace {

std::string text_of(const std::string& name) { return read_file(test::repository_path("tests/triton/texts/" + name)).value(); }

std::vector<std::string> all_texts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository_path("tests/triton/texts")))
    if (entry.path().extension() == ".ttgir") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Module read(const std::string& text) {
  auto module = parse(text, "test.ttgir");
  if (!module) FAIL(to_string(module.error()) << "\nof:\n" << text);
  return *module;
}

/// Ops in a function.
Module body(const std::string& lines) { return read("module {\n  tt.func @f(%x: i32, %y: i32) {\n" + lines + "    tt.return\n  }\n}\n"); }

std::vector<Fault> faults_of(const std::string& text) {
  auto module = parse(text, "test.ttgir");
  REQUIRE(!module);
  return module.error().faults;
}

const mlir::Op& named(const Module& module, std::string_view name, std::size_t skip = 0) {
  for (const mlir::Op& op : module.ops)
    if (op.name == name && skip-- == 0) return op;
  FAIL("no op " << name);
  return module.ops.front();
}

std::string slice(const Module& module, Span span) { return module.text.substr(span.begin, span.end - span.begin); }

std::string names(const Module& module, const std::vector<ValueId>& values) {
  std::string out;
  for (const ValueId value : values) out += (out.empty() ? "" : " ") + module.value(value).name;
  return out;
}

std::size_t count_of(const Module& module, std::string_view name) {
  return static_cast<std::size_t>(std::count_if(module.ops.begin(), module.ops.end(), [&](const mlir::Op& op) { return op.name == name; }));
}

}  // namespace

TEST_CASE("every text of four versions of Triton is read", "[core]") {
  const auto texts = all_texts();
  REQUIRE(texts.size() > 35);
  for (const std::string& name : texts) {
    INFO(name);
    const Module module = read(text_of(name));
    CHECK(module.functions.size() == 1);
    CHECK(module.find(name.find("3.2.0") == std::string::npos ? "ttg.target" : "triton_gpu.target") != nullptr);
    CHECK(module.op(module.functions[0]).line > 1);
    CHECK(module.locations.size() > 5);
  }
}

TEST_CASE("the ops of attention forward are those that stand in its text", "[core]") {
  const Module module = read(text_of("attention_forward_ws.sm100.partitioned.ttgir"));
  CHECK(count_of(module, "scf.for") == 1);
  CHECK(count_of(module, "tt.reduce") == 2);
  CHECK(count_of(module, "ttng.tc_gen5_mma") == 2);
  const mlir::Op& loop = named(module, "scf.for");
  CHECK(names(module, loop.operands) == "c0_i32 keys c128_i32 top total s_3 acc_6");
  CHECK(names(module, loop.results) == "acc_7#0 acc_7#1 acc_7#2 acc_7#3");
  CHECK(module.value(loop.results[3]).type == "!ttg.async.token");
  CHECK(loop.integer("tt.scheduled_max_stage", -1) == 4);
  CHECK(loop.integer("tt.num_stages", -1) == 3);
  CHECK(loop.find("tt.warp_specialize")->value.empty());
  CHECK(loop.find("ttg.partition.outputs")->value == "[array<i32: 0>, array<i32: 0>, array<i32: 2>, array<i32: 1>]");
  CHECK(loop.words.empty());
  const Block& inside = *module.body(module.value(loop.results[0]).definer);
  CHECK(names(module, inside.arguments) == "at top_10 total_11 s_12 acc_13");
  CHECK(module.value(inside.arguments[0]).type == "i32");
  CHECK(module.value(inside.arguments[1]).type == "tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear1}>>");
  CHECK(inside.ops.size() == 32);
  CHECK(module.op(inside.ops.back()).name == "scf.yield");
  CHECK(module.around(inside.ops.back()) == module.value(loop.results[0]).definer);

  const mlir::Op& product = named(module, "ttng.tc_gen5_mma");
  CHECK(names(module, product.operands) == "tq_2 s_17 s s_12 false true");
  CHECK(product.bracketed == std::vector<bool>{false, false, false, true, false, false});
  CHECK(product.types.size() == 3);
  CHECK(product.result_types.empty());
  CHECK(slice(module, product.dictionary) ==
        "{loop.cluster = 2 : i32, loop.stage = 2 : i32, tt.self_latency = 0 : i32, ttg.partition = array<i32: 2>}");
  CHECK(module.aliases.at("#tmem1") == "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>");
  CHECK(module.find("ttg.target")->value == "\"cuda:100\"");
  CHECK(module.find("ttg.num-warps")->value == "4 : i32");
}

TEST_CASE("an op knows the line of the program it comes from, and those that called it", "[core]") {
  const Module module = read(text_of("attention_forward_ws.sm100.partitioned.ttgir"));
  const Location& product = module.location(named(module, "ttng.tc_gen5_mma"));
  CHECK(product.file == "kernels.py");
  CHECK(product.line == 124);
  CHECK(product.column == 13);
  CHECK(product.name == "s");
  const Location& reduction = module.location(named(module, "tt.reduce"));
  CHECK(reduction.file.ends_with("standard.py"));
  CHECK(reduction.line == 216);
  CHECK(reduction.name == "higher");
  REQUIRE(reduction.callers.size() == 1);
  CHECK(reduction.callers[0] == std::pair<std::string, int>("kernels.py", 125));
  CHECK(named(module, "arith.constant").location == 0);
  CHECK(module.locations[0].line == 0);
}

TEST_CASE("locations of all shapes are read", "[core]") {
  const auto at = [](const std::string& location) {
    const Module module = read("#a = loc(\"f.py\":3:4)\ntt.op loc(" + location +
                               ")\n#b = loc(\"x\"(#c))\n#c = loc(\"g.py\":5:6)\n#u = loc(unknown)\n"
                               "#r = loc(callsite(#r at #a))\n");
    return module.location(module.ops[0]);
  };
  CHECK(at("#a").line == 3);
  CHECK(at("#b").name == "x");
  CHECK(at("#b").file == "g.py");
  CHECK(at("callsite(#u at #b)").line == 5);
  CHECK(at("callsite(#a at #b)").line == 3);
  CHECK(at("callsite(#a at #b)").name == "x");
  CHECK(at("callsite(#a at callsite(#c at #a))").callers.size() == 2);
  CHECK(at("fused[#u, #a, #c]").line == 3);
  CHECK(at("fused<\"why\">[#c]").line == 5);
  CHECK(at("\"f.py\":1:2 to 3:4").line == 1);
  CHECK(at("\"a\\\"b\\5C.py\":1:2").file == "a\"b\\.py");
  CHECK(at("\"alone\"").name == "alone");
  CHECK(at("\"deep\"(\"name\"(\"f.py\":7:1))").line == 7);
  CHECK(at("#absent").line == 0);
  CHECK(at("#r").line == 3);  // it leads to itself
  CHECK(at("unknown").line == 0);
}

TEST_CASE("every span of an attribute is its text, spans of ops nest, and definitions stand before uses", "[core]") {
  for (const std::string& name : all_texts()) {
    INFO(name);
    const Module module = read(text_of(name));
    const auto exact = [&](const std::vector<Attribute>& attributes) {
      for (const Attribute& attribute : attributes) {
        const std::string text = slice(module, attribute.span);
        const bool quoted = text.starts_with('"');
        const std::string key = quoted ? "\"" + attribute.name + "\"" : attribute.name;
        if (text != (attribute.value.empty() ? key : key + " = " + attribute.value))
          FAIL("the span of " << attribute.name << " is: " << text);
      }
    };
    exact(module.attributes);
    std::size_t before = 0;
    for (std::size_t i = 0; i < module.ops.size(); ++i) {
      const mlir::Op& op = module.ops[i];
      exact(op.attributes);
      const std::string text = slice(module, op.span);
      const std::string start = op.results.empty() ? op.name : "%" + module.value(op.results[0]).name;
      const std::string bare = start.substr(0, start.find('#'));
      if (!text.starts_with(bare) && !text.starts_with("\"" + bare)) FAIL("the span of " << op.name << " is: " << text);
      if (module.text[op.span.end] != '\n') FAIL(op.name << " ends within its line");
      if (op.dictionary.end > 0 && !(slice(module, op.dictionary).starts_with("{") && slice(module, op.dictionary).ends_with("}")))
        FAIL("the dictionary of " << op.name << " is: " << slice(module, op.dictionary));
      if (op.span.begin < before) FAIL("ops are not in the order of the text");
      before = op.span.begin;
      const OpId around = module.around(OpId(i));
      if (around.valid()) {
        const mlir::Op& outer = module.op(around);
        if (op.span.begin <= outer.span.begin || op.span.end >= outer.span.end) FAIL(op.name << " is not inside of " << outer.name);
        if (around.index() >= i) FAIL("an op comes before the one around it");
      }
      if (op.operands.size() != op.bracketed.size()) FAIL("not every operand of " << op.name << " is known to be bracketed or not");
      for (const ValueId operand : op.operands) {
        REQUIRE(operand.valid());
        const OpId definer = module.value(operand).definer;
        if (definer.valid() && definer.index() >= i) FAIL(op.name << " uses what comes later");
      }
    }
    for (const Region& region : module.regions) {
      CHECK(region.blocks.size() == 1);
      for (const BlockId block : region.blocks) {
        const Block& inside = module.block(block);
        for (std::size_t i = 0; i < inside.arguments.size(); ++i) {
          CHECK(module.value(inside.arguments[i]).block == block);
          CHECK(module.value(inside.arguments[i]).index == i);
          CHECK(!module.value(inside.arguments[i]).type.empty());
        }
      }
    }
  }
}

TEST_CASE("lines of the text and numbers of ops agree with a plain count", "[core]") {
  for (const std::string& name : all_texts()) {
    INFO(name);
    const std::string text = text_of(name);
    const Module module = read(text);
    std::set<int> expected, found;
    int line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::size_t first = text.find_first_not_of(' ', at);
      if (first < end && first > at) {  // indented: inside of the module
        const std::string rest = text.substr(first, end - first);
        const bool region = rest.starts_with("}") || rest.starts_with("^") || rest.starts_with("default") || rest.starts_with("partition");
        if (!region) expected.insert(line);
      }
      at = end + 1;
    }
    for (const mlir::Op& op : module.ops) found.insert(op.line);
    CHECK(expected == found);
  }
}

TEST_CASE("the groups of a specialized kernel are regions with their warps", "[core]") {
  const Module module = read(text_of("attention_forward_ws.sm100.specialized.ttgir"));
  const mlir::Op& groups = named(module, "ttg.warp_specialize");
  REQUIRE(groups.regions.size() == 4);
  CHECK(module.region(groups.regions[0]).label == "default");
  CHECK(module.region(groups.regions[0]).warps == -1);
  CHECK(module.region(groups.regions[2]).label == "partition1");
  CHECK(module.region(groups.regions[2]).warps > 0);
  CHECK(groups.types.size() == groups.operands.size());
  for (const ValueId result : groups.results) CHECK(!module.value(result).type.empty());
  for (std::size_t i = 1; i < 4; ++i) {
    const Block& block = module.block(module.region(groups.regions[i]).blocks[0]);
    CHECK(block.arguments.size() == groups.operands.size());
    CHECK(module.value(block.arguments[0]).type == groups.types[0]);
    CHECK(module.op(block.ops.back()).name == "ttg.warp_return");
  }
}

TEST_CASE("a use of a name means the definition of its own region", "[core]") {
  const Module module = body(
      "    scf.if %x {\n      %a = t.one : i32\n      t.use %a : i32\n    } else {\n      %a = t.two : i32\n      t.use %a : i32\n    }\n"
      "    %a = t.three : i32\n    t.use %a : i32\n");
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueId used = named(module, "t.use", i).operands[0];
    CHECK(module.op(module.value(used).definer).name == std::vector<std::string>{"t.one", "t.two", "t.three"}[i]);
  }
  const mlir::Op& choice = named(module, "scf.if");
  CHECK(module.region(choice.regions[0]).label == "then");
  CHECK(module.region(choice.regions[1]).label == "else");
}

TEST_CASE("an inner definition hides the outer one until its region ends", "[core]") {
  const Module module = body(
      "    %a = t.outer : i32\n    t.groups()\n    default {\n      t.use %a : i32\n      t.end\n    }\n"
      "    partition0(%a: f32) num_warps(4) {\n      t.use %a : f32\n      t.end\n    } : () -> ()\n    t.use %a : i32\n");
  CHECK(module.value(named(module, "t.use", 0).operands[0]).definer.valid());
  CHECK(!module.value(named(module, "t.use", 1).operands[0]).definer.valid());
  CHECK(module.value(named(module, "t.use", 1).operands[0]).type == "f32");
  CHECK(module.value(named(module, "t.use", 2).operands[0]).definer.valid());
  CHECK(named(module, "t.groups").result_types.empty());
}

TEST_CASE("a pack gives several values, and its name alone is the first", "[core]") {
  const Module module = body(
      "    %r:3 = t.make %x : (i32) -> (i32, f16, tensor<4xf32, #l>)\n    %s, %t:2 = t.wait %r, %r#2, %y : i32, f16, f32\n    t.use %r#1, "
      "%t#1 : f16, f32\n");
  CHECK(names(module, named(module, "t.make").results) == "r#0 r#1 r#2");
  CHECK(module.value(named(module, "t.make").results[2]).type == "tensor<4xf32, #l>");
  CHECK(names(module, named(module, "t.wait").operands) == "r#0 r#2 y");
  CHECK(names(module, named(module, "t.wait").results) == "s t#0 t#1");
  CHECK(module.value(named(module, "t.wait").results[2]).type == "f32");
  CHECK(names(module, named(module, "t.use").operands) == "r#1 t#1");
}

TEST_CASE("what the printed form can look like does not lead the reader astray", "[core]") {
  SECTION("a layout with braces in it is a type, not a dictionary") {
    const Module module = body("    %a = tt.splat %x : i32 -> tensor<4xi32, #ttg.slice<{dim = 1, parent = #mma}>> loc(#loc)\n");
    CHECK(named(module, "tt.splat").attributes.empty());
    CHECK(named(module, "tt.splat").dictionary.end == 0);
    CHECK(module.value(named(module, "tt.splat").results[0]).type == "tensor<4xi32, #ttg.slice<{dim = 1, parent = #mma}>>");
  }
  SECTION("a memdesc without its head") {
    const Module module = body("    %a = t.copy %x, %y mask %x other %y : tensor<4x!tt.ptr<f16>, #b> -> <4xf16, #s, #smem, mutable>\n");
    CHECK(names(module, named(module, "t.copy").operands) == "x y x y");
    CHECK(named(module, "t.copy").words == "mask other");
    CHECK(named(module, "t.copy").types == std::vector<std::string>{"tensor<4x!tt.ptr<f16>, #b>"});
    CHECK(named(module, "t.copy").result_types == std::vector<std::string>{"<4xf16, #s, #smem, mutable>"});
  }
  SECTION("operands in brackets, brackets without any, and numbers") {
    const Module module = body("    t.a %x[%y, %x] %y[], %x, 16 : i32\n    %b = t.b %x[0, 4] : i32\n    t.c %x[%y, 0] : i32\n");
    CHECK(named(module, "t.a").bracketed == std::vector<bool>{false, true, true, false, false});
    CHECK(named(module, "t.a").words == "16");
    CHECK(named(module, "t.b").words == "[0, 4]");
    CHECK(names(module, named(module, "t.c").operands) == "x y");
  }
  SECTION("words of compares, constants, calls and messages") {
    const Module module = body(
        "    %a = arith.cmpi slt, %x, %y : i32\n    %b = arith.constant dense<[-1, 2]> : tensor<2xi32>\n    %c = tt.call @g(%x) : (i32) -> "
        "f32\n"
        "    %d = arith.constant -1 : i32\n    %e = tt.dot %x, %y, %x, inputPrecision = tf32 : t<1> * t<2> -> t<3>\n"
        "    tt.print \" : {%x\" {hex = false} : %y : i32\n    %f = arith.constant true\n");
    CHECK(named(module, "arith.cmpi").words == "slt,");
    CHECK(named(module, "arith.constant").words == "dense<[-1, 2]>");
    CHECK(named(module, "tt.call").words == "@g");
    CHECK(module.value(named(module, "tt.call").results[0]).type == "f32");
    CHECK(named(module, "arith.constant", 1).words == "-1");
    CHECK(named(module, "tt.dot").words == "inputPrecision = tf32");
    CHECK(named(module, "tt.dot").types == std::vector<std::string>{"t<1>", "t<2>"});
    CHECK(names(module, named(module, "tt.print").operands) == "y");
    CHECK(named(module, "arith.constant", 2).words == "true");
    CHECK(module.value(named(module, "arith.constant", 2).results[0]).type.empty());
  }
  SECTION("the generic form, with properties, two regions and a dictionary behind them") {
    const Module module = body(
        "    %a = \"t.two\"(%x, %y) <{axis = 1 : i32}> ({\n    ^bb0(%p: f32 loc(\"f.py\":1:1), %q: f32):\n      t.end %p : f32\n    }, {\n "
        "     t.end %x : i32\n"
        "    }) {loop.stage = 2 : i32} : (i32, i32) -> f32\n");
    const mlir::Op& op = named(module, "t.two");
    CHECK(op.regions.size() == 2);
    CHECK(op.integer("axis", 0) == 1);
    CHECK(op.integer("loop.stage", 0) == 2);
    CHECK(slice(module, op.dictionary) == "{loop.stage = 2 : i32}");
    CHECK(module.value(op.results[0]).type == "f32");
    CHECK(op.operands.size() == 2);
    CHECK(module.body(OpId(1))->arguments.size() == 2);
  }
  SECTION("properties alone are no dictionary that attributes could be added to") {
    const Module module = body("    %a = \"t.one\"(%x) <{axis = 1 : i32}> ({\n      t.end %x : i32\n    }) : (i32) -> f32\n");
    CHECK(named(module, "t.one").dictionary.end == 0);
  }
  SECTION("a while loop") {
    const Module module = body(
        "    %a:2 = scf.while (%p = %x, %q = %y) : (i32, f32) -> (i32, f32) {\n      scf.condition(%p) %p, %q : i32, f32\n    } do {\n"
        "    ^bb0(%s: i32, %t: f32):\n      scf.yield %s, %t : i32, f32\n    } attributes {tt.num_stages = 2 : i32}\n");
    const mlir::Op& loop = named(module, "scf.while");
    CHECK(loop.regions.size() == 2);
    CHECK(names(module, loop.operands) == "x y");
    CHECK(module.region(loop.regions[0]).label == "before");
    CHECK(module.region(loop.regions[1]).label == "do");
    CHECK(module.value(module.block(module.region(loop.regions[0]).blocks[0]).arguments[1]).type == "f32");
    CHECK(names(module, named(module, "scf.condition").operands) == "p p q");
    CHECK(loop.integer("tt.num_stages", 0) == 2);
  }
  SECTION("a loop over an index without carried values") {
    const Module module = body("    scf.for %i = %x to %y step %x {\n      t.use %i : index\n    }\n");
    CHECK(names(module, named(module, "scf.for").operands) == "x y x");
    CHECK(module.value(named(module, "t.use").operands[0]).type == "index");
  }
  SECTION("comments, blocks with predecessors, what follows the module, and a wrapped list") {
    const Module module = read(
        "// -----\nmodule {\n  func.func @f(%c: i1) {\n    cf.cond_br %c, ^bb1, ^bb2(%c : i1)\n  ^bb1:  // pred: ^bb0\n    return\n  "
        "^bb2(%a: i1):  // pred: ^bb0\n"
        "    t.use %a {b = 1 : i32,\n      d} : i1\n    return\n  }\n}\n\n{-#\n  external_resources: {\n    mlir_reproducer: {\n  "
        "}\n#-}\n#loc = loc(unknown)\n");
    CHECK(module.region(module.op(module.functions[0]).regions[0]).blocks.size() == 3);
    CHECK(named(module, "t.use").attributes.size() == 2);
    CHECK(slice(module, named(module, "t.use").attributes[1].span) == "d");
  }
  SECTION("strings with brackets and escapes") {
    const Module module = body("    %a = t.asm \"}{ \\\" %q\" {constraints = \"=r,[x\", m.n = @s} %x : i32 -> i32\n");
    CHECK(named(module, "t.asm").find("constraints")->value == "\"=r,[x\"");
    CHECK(names(module, named(module, "t.asm").operands) == "x");
  }
  SECTION("a function without a module, lines that end as in Windows, and no newline at the end") {
    const Module module = read(
        "tt.func private @g(i32 {a.b = 1 : i32}, !tt.ptr<f16>) -> f32\r\ntt.func @f() attributes {noinline = false} {\r\n  tt.return\r\n}");
    CHECK(module.functions.size() == 2);
    CHECK(module.op(module.functions[0]).regions.empty());
    CHECK(module.op(module.functions[0]).result_types == std::vector<std::string>{"f32"});
    CHECK(module.op(module.functions[1]).words == "@f");
  }
}

TEST_CASE("a fault says line and column, and the reader goes on to the next", "[core]") {
  const std::string head = "module {\n  tt.func @f(%x: i32) {\n", tail = "    tt.return\n  }\n}\n";
  const auto only = [&](const std::string& lines) {
    const auto faults = faults_of(head + lines + tail);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].file == "test.ttgir");
    CHECK(!faults[0].message.empty());
    return faults[0].pointer;
  };
  CHECK(only("    %a = t.op %nobody : i32\n") == "3:15");
  CHECK(only("    %a = t.op %x#1 : i32\n") == "3:15");
  CHECK(only("    %a = t.op %x : i32\n    %a = t.op %x : i32\n") == "4:5");
  CHECK(only("    t.op %x : tensor<4xf32\n") == "3:21");
  CHECK(only("    t.op %x : tensor<4xf32)>\n") == "3:27");
  CHECK(only("    %a = 7 : i32\n") == "3:10");
  CHECK(only("    %a : i32\n") == "3:8");
  CHECK(only("    t.op \"no end\n") == "3:10");
  CHECK(only("    t.op {a = } : i32\n") == "3:11");
  CHECK(only("    %a:0 = t.op : i32\n") == "3:7");
  CHECK(only("    hello world\n") == "3:5");
  CHECK(only("    %a = t.loop %x {\n      t.use %a : i32\n    }\n") == "4:13");
  CHECK(only("    t.later %b : i32\n    %b = t.op : i32\n") == "3:13");
  CHECK(only("    scf.if %x {\n      %b = t.op : i32\n    }\n    t.use %b : i32\n") == "6:11");
  const auto two = faults_of(head + "    t.op %p : i32\n    t.op %x : i32\n    t.op %q : i32\n" + tail);
  REQUIRE(two.size() == 2);
  CHECK(two[0].pointer == "3:10");
  CHECK(two[1].pointer == "5:10");
  CHECK(faults_of(head)[0].message.find("line 2") != std::string::npos);
  CHECK(faults_of(head + tail + "}\n")[0].pointer == "6:1");
  CHECK(faults_of(head + tail + head + tail)[0].pointer == "6:1");
  CHECK(faults_of("").size() == 1);
  CHECK(faults_of("hello\nworld\n").size() == 2);
  CHECK(faults_of("\n  {\"json\": 1}\n").size() >= 1);
}

TEST_CASE("what is too much is refused, and soon", "[core]") {
  std::string deep = "module {\n";
  for (int i = 0; i < 100; ++i) deep += "t.op {\n";
  CHECK(faults_of(deep).back().message.find("nested deeper") != std::string::npos);
  std::string many = "module {\n";
  for (int i = 0; i < 70000; ++i) many += "t.op\n";
  CHECK(faults_of(many).back().message.find("more than 65536 ops") != std::string::npos);
  CHECK(faults_of("%a:99999999999999999999 = t.op : i32\n").size() == 1);
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "%a" + std::to_string(i) + ":4096 = t.op : i32\n";
  CHECK(faults_of(wide).back().message.find("values") != std::string::npos);
  std::string wrong;
  for (int i = 0; i < 1000; ++i) wrong += "?\n";
  CHECK(faults_of(wrong).size() == 64);
  CHECK(faults_of("t.op " + std::string(100000, '(') + "\n").size() == 1);
  std::string rings = "tt.op loc(#a0)\n";
  for (int i = 0; i < 2000; ++i)
    rings += "#a" + std::to_string(i) + " = loc(callsite(#a" + std::to_string(i + 1) + " at #a" + std::to_string(i + 1) + "))\n";
  CHECK(read(rings).locations.size() == 1);
}
