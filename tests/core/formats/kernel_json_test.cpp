// Kernel files that are wrong: every fault is found, says where it is, what was expected, and guesses what was meant.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/base/suggest.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/op_kind.h"

using namespace heddle;

namespace {

struct Parts {
  std::string head = R"("schema": "heddle.kernel/1", "name": "t")";
  std::string params = R"({"name": "N", "value": 4})";
  std::string tensors = R"({"name": "A", "dtype": "f32", "shape": ["N", 4], "role": "input"},
    {"name": "B", "dtype": "f32", "shape": [4], "role": "output"})";
  std::string values = R"({"name": "a", "dtype": "f32", "shape": [4, 4], "space": "register"},
    {"name": "b", "dtype": "f32", "shape": [4, 4], "space": "register"},
    {"name": "c", "dtype": "f32", "shape": [4], "space": "smem"})";
  std::string prologue = R"({"name": "z", "kind": "fill", "out": ["b"], "attrs": {"value": "0"}})";
  std::string body = R"({"name": "load", "kind": "load", "tensor": "A", "at": ["i", 0], "out": ["a"]},
    {"name": "sum", "kind": "elementwise", "in": ["a", "b[-1]"], "out": ["b"], "attrs": {"fn": "add"}})";
  std::string epilogue = R"({"name": "red", "kind": "reduce_sum", "in": ["b"], "out": ["c"]},
    {"name": "st", "kind": "store", "in": ["c"], "tensor": "B", "at": [0]})";
  std::string tail;

  std::string text() const {
    return fmt::format(
        "{{{}, \"params\": [{}], \"tensors\": [{}], \"loop\": {{\"variable\": \"i\", \"trips\": \"N\"}}, "
        "\"values\": [{}], \"prologue\": [{}], \"body\": [{}], \"epilogue\": [{}]{}}}",
        head, params, tensors, values, prologue, body, epilogue, tail);
  }
};

std::string known_kinds() {
  std::vector<std::string> names;
  for (const OpKind& kind : op_kinds()) names.emplace_back(kind.name);
  return list_of(names);
}

std::string known_attributes(const char* kind) {
  std::vector<std::string> names;
  for (const OpAttribute& attribute : find_op_kind(kind)->attributes) names.emplace_back(attribute.name);
  return list_of(names);
}

std::string known_functions() {
  std::vector<std::string> names;
  for (const ElementwiseFunction& f : elementwise_functions()) names.emplace_back(f.name);
  return list_of(names);
}

std::string faults_of(const Parts& parts) {
  const auto kernel = parse_kernel(parts.text(), "k.json");
  return kernel ? "no fault" : to_string(kernel.error());
}

}  // namespace

TEST_CASE("the kernel that the following tests damage is sound", "[core]") { CHECK(faults_of({}) == "no fault"); }

TEST_CASE("wrong types are named with what was probably meant", "[core]") {
  Parts parts;
  parts.params = R"({"name": "N", "value": "12"}, {"name": "M", "value": 1.5}, {"name": "K", "value": 128.0},
    {"name": "L", "value": 99999999999999999999}, {"name": "J", "value": 9007199254740993})";
  CHECK(faults_of(parts) ==
        "k.json: /params/0/value: expected an integer, found \"12\" (did you mean 12?)\n"
        "k.json: /params/1/value: expected an integer, found 1.5\n"
        "k.json: /params/2/value: expected an integer, found 128.0 (did you mean 128?)\n"
        "k.json: /params/3/value: expected an integer, found 99999999999999999999 (that does not fit 64 bits)\n"
        "k.json: /params/4/value: expected an integer, found 9007199254740993 (the largest number accepted here is "
        "1099511627776)");
}

TEST_CASE("misspelt words and keys are answered with the nearest known one", "[core]") {
  Parts parts;
  parts.values = R"({"name": "a", "dtype": "fp32", "shape": [4, 4], "space": "registers"},
    {"name": "b", "dtype": "f32", "shap": [4, 4], "space": "register"},
    {"name": "c", "dtype": "f32", "shape": [4], "space": "smem"})";
  parts.body = R"({"name": "load", "kind": "lod", "tensor": "A", "at": ["i", 0], "out": ["a"]},
    {"name": "sum", "kind": "elementwise", "in": ["a", "b[-1]"], "out": ["b"], "attrs": {"fn": "ad"}})";
  CHECK(faults_of(parts) ==
        "k.json: /values/0/dtype: unknown dtype \"fp32\" (known: f32, bf16, f16, f8e4m3, f8e5m2, i32, i8 or i4) (did you mean "
        "'f32'?)\n"
        "k.json: /values/0/space: unknown space \"registers\" (known: register, smem, tmem or global) (did you mean "
        "'register'?)\n"
        "k.json: /body/0/kind: unknown kind 'lod' (known: " +
            known_kinds() +
            ") (did you mean 'load'?)\n"
            "k.json: /body/1/attrs/fn: expected one of " +
            known_functions() + " (did you mean 'add'?)");
  // The shape follows from the op, so the misspelt key is no fault; it is said all the same.
  std::vector<Fault> warnings;
  CHECK_FALSE(parse_kernel(parts.text(), "k.json", &warnings).ok());
  REQUIRE(warnings.size() == 1);
  CHECK(to_string(warnings[0]) == "k.json: /values/1/shap: unknown key, ignored (did you mean 'shape'?)");
}

TEST_CASE("unknown keys warn and survive a save, x- keys are silent and survive too", "[core]") {
  Parts parts;
  parts.tail = R"(, "x-mine": {"deep": [1, {"y": 2}]}, "max_group": 2)";
  parts.params = R"({"name": "N", "value": 4, "x-note": "keep", "abuot": "typo"})";
  std::vector<Fault> warnings;
  const auto kernel = parse_kernel(parts.text(), "k.json", &warnings);
  REQUIRE(kernel.ok());
  REQUIRE(warnings.size() == 2);
  CHECK(to_string(warnings[0]) == "k.json: /params/0/abuot: unknown key, ignored (did you mean 'about'?)");
  CHECK(to_string(warnings[1]) == "k.json: /max_group: unknown key, ignored (did you mean 'max_groups'?)");

  Kernel changed = *kernel;
  changed.params.insert(changed.params.begin(), Param{"FIRST", 1, {}, {}, {}});
  const std::string saved = kernel_text(changed, parts.text());
  CHECK(saved.find(R"({"name": "N", "value": 4, "x-note": "keep", "abuot": "typo"})") != std::string::npos);
  CHECK(saved.find(R"("x-mine": {"deep": [1, {"y": 2}]})") != std::string::npos);
  CHECK(saved.find("max_group\": 2") != std::string::npos);
  CHECK(kernel_text(changed).find("x-mine") == std::string::npos);
}

TEST_CASE("references that lead nowhere are all found", "[core]") {
  Parts parts;
  parts.prologue = R"({"name": "z", "kind": "convert", "in": ["a"], "out": ["b"]})";
  parts.body = R"({"name": "load", "kind": "load", "tensor": "AA", "at": ["i", 0], "out": ["a"]},
    {"name": "one", "kind": "load", "tensor": "A", "at": ["j"], "out": ["nope"]},
    {"name": "sum", "kind": "elementwise", "in": ["aa", "c", "a[-1]"], "out": ["b"], "attrs": {"fn": "fma"}})";
  CHECK(faults_of(parts) ==
        "k.json: /body/1/out/0: unknown value 'nope' (declare its dtype, shape and space under /values)\n"
        "k.json: /prologue/0/in/0: 'a' is not defined before this op (the loop body runs after the prologue)\n"
        "k.json: /body/0/tensor: unknown tensor 'AA' (did you mean 'A'?)\n"
        "k.json: /body/1/at: tensor 'A' has 2 dimensions, found 1 coordinate\n"
        "k.json: /body/1/at/0: unknown name 'j' in \"j\" (known here: N or i)\n"
        "k.json: /body/2/in/0: unknown value 'aa' (did you mean 'a'?)\n"
        "k.json: /body/2/in/1: no op defines 'c' (the epilogue runs after the loop)\n"
        "k.json: /body/2/in/2: nothing defines 'a' for the first iteration (add an op to the prologue that defines it, a "
        "fill for instance)");
}

TEST_CASE("names and definitions given twice are found", "[core]") {
  Parts parts;
  parts.params = R"({"name": "N", "value": 4}, {"name": "i", "value": 4}, {"name": "2x", "value": 4})";
  parts.body += R"(, {"name": "load", "kind": "fill", "out": ["a"], "attrs": {"value": "1"}},
    {"name": "z", "kind": "fill", "out": ["a", "a"], "attrs": {"value": "1"}})";
  CHECK(faults_of(parts) ==
        "k.json: /params/2/name: \"2x\" cannot be used in expressions; expected letters, digits and underscores\n"
        "k.json: /loop/variable: name 'i' is already taken by /params/1/name (choose another name)\n"
        "k.json: /body/2/out/0: 'a' is defined twice in the body: by 'load' and by 'load' (give one of the two results "
        "another name)\n"
        "k.json: /body/3/out/0: 'a' is defined twice in the body: by 'load' and by 'z' (give one of the two results "
        "another "
        "name)\n"
        "k.json: /body/3/out/1: 'a' is defined twice in the body: by 'load' and by 'z' (give one of the two results "
        "another "
        "name)\n"
        "k.json: /body/2/name: name 'load' is already taken by /body/0\n"
        "k.json: /body/3/name: name 'z' is already taken by /prologue/0\n"
        "k.json: /body/3/out: fill defines 1 value, found 2");
}

TEST_CASE("cycles within one iteration are told as the ops in them, reads before definitions as what to move", "[core]") {
  Parts parts;
  parts.body = R"({"name": "x", "kind": "copy", "in": ["b"], "out": ["a"]},
    {"name": "sum", "kind": "copy", "in": ["a"], "out": ["b"]})";
  CHECK(faults_of(parts) ==
        "k.json: /body/0: depends on itself within one iteration: x -> sum -> x (one of these reads must be of an "
        "earlier "
        "iteration, like a[-1])");
  parts.body = R"({"name": "x", "kind": "copy", "in": ["a"], "out": ["b"]},
    {"name": "sum", "kind": "fill", "out": ["a"], "attrs": {"value": "1"}})";
  CHECK(faults_of(parts) ==
        "k.json: /body/0/in/0: 'a' is read before 'sum' defines it (move 'sum' before this op, or read the last "
        "iteration's: "
        "a[-1])");
  parts.body = R"({"name": "x", "kind": "copy", "in": ["b"], "out": ["b"]})";
  CHECK(faults_of(parts) ==
        "k.json: /body/0: depends on itself within one iteration: x -> x (one of these reads must be of an earlier "
        "iteration, like b[-1])");
}

TEST_CASE("operands of other iterations are written with brackets and a negative number", "[core]") {
  Parts parts;
  const auto with = [&](const std::string& operand) {
    parts.body = fmt::format(R"({{"name": "s", "kind": "copy", "in": ["{}"], "out": ["b"]}})", operand);
    return faults_of(parts);
  };
  CHECK(with("b[-1]") == "no fault");
  CHECK(with("b[-3]") == "no fault");
  CHECK(with("b[1]") == "k.json: /body/0/in/0: reads 1 iterations ahead; only earlier iterations can be read (did you mean b[-1]?)");
  for (const char* broken : {"b[", "b[]", "b[-1", "b[-1]x", "b[x]", "[-1]", "b[-99999999999999999999]"})
    CHECK(with(broken) ==
          fmt::format("k.json: /body/0/in/0: expected a value, or a value of an earlier iteration like {}[-1], found \"{}\"",
                      broken[0] == 'b' ? "b" : "", broken));
  CHECK(with("b[-9999999]").find("at most 1048576 iterations back") != std::string::npos);
  CHECK(with("") == "k.json: /body/0/in/0: expected a name, found \"\"");
}

TEST_CASE("names are made from one whitelist", "[core]") {
  const auto with = [](const std::string& name) {
    Parts parts;
    parts.body = fmt::format(R"({{"name": "{}", "kind": "copy", "in": ["b[-1]"], "out": ["b"]}})", name);
    return faults_of(parts);
  };
  for (const char* good : {"s", "_s", "0", "tt.load_3", "a-b", "wg 1", "consumer A", "x[TILE_N/2]", "f(x), y", "a:b#1+2"})
    CHECK(with(good) == "no fault");
  for (const char* bad :
       {"=1+2",   "+x", "-x", "@x",       "<b>",          "a&b",       "a;b", "a`b", "$(x)", "a|b", "*/",  "a'b", "a\\\"b",
        "a\\\\b", " a", "a ", "\xc3\xa4", "\xe2\x80\xae", "a\\u0001b", "#x",  "[x]", "{x}",  "a=b", "a%b", "~",   "!x"}) {
    INFO(bad);
    const std::string fault = with(bad);
    CHECK(fault.starts_with("k.json: /body/0/name: expected a name, found "));
    CHECK(fault.find("(letters, digits, blanks and _ . : / # + - ( ) [ ] , with a letter, a digit or _ in front)") != std::string::npos);
  }
  CHECK(with(std::string(201, 'a')).find("at most 200 characters") != std::string::npos);
}

TEST_CASE("arity, attributes and sharing of storage are checked against the catalogue", "[core]") {
  Parts parts;
  parts.values = R"({"name": "a", "dtype": "f32", "shape": [4, 0], "space": "register", "alias_of": "b"},
    {"name": "b", "dtype": "f32", "shape": ["M"], "space": "register", "alias_of": "a"},
    {"name": "c", "dtype": "f32", "shape": [4], "space": "smem", "alias_of": "a"})";
  parts.body =
      R"({"name": "m", "kind": "mma", "in": ["b[-1]"], "out": [], "attrs": {"transposed": true}, "tensor": "A", "at": [0, 0]},
    {"name": "st", "kind": "store", "in": ["b[-1]"]}, {"name": "e", "kind": "elementwise", "in": ["b[-1]"], "out": ["b"]},
    {"name": "q", "kind": "opaque"})";
  parts.epilogue = "";
  CHECK(faults_of(parts) ==
        "k.json: /values/0/shape/1: expected a positive size, found 0\n"
        "k.json: /values/0/alias_of: 'a' shares storage with itself (one value of the chain must own the storage)\n"
        "k.json: /values/1/shape/0: unknown name 'M' in \"M\" (known here: N)\n"
        "k.json: /values/1/alias_of: 'b' shares storage with itself (one value of the chain must own the storage)\n"
        "k.json: /values/2/alias_of: 'c' lies in smem, but 'a' lies in register; only values of one space can share "
        "storage\n"
        "k.json: /body/0/in: mma takes 2 to 3 inputs, found 1\n"
        "k.json: /body/0/out: mma defines 1 value, found 0\n"
        "k.json: /body/0/tensor: mma does not touch global memory (remove \"tensor\" and \"at\")\n"
        "k.json: /body/0/attrs/transposed: mma has no attribute 'transposed' (it accepts " +
            known_attributes("mma") +
            ")\n"
            "k.json: /body/1: store needs \"tensor\", the global tensor that it writes\n"
            "k.json: /body/2: elementwise needs the attribute 'fn', the function to apply (known: " +
            known_functions() +
            ")\n"
            "k.json: /body/3: an opaque op needs \"cost\" with at least \"latency\"; no machine has a rule for it");
}

TEST_CASE("a file of another kind, version or shape is refused with one sentence", "[core]") {
  const auto fault = [](const std::string& text) { return to_string(parse_kernel(text, "k.json").error()); };
  CHECK(fault(R"({"schema": "heddle.kernel/2", "name": "t"})") ==
        "k.json: /schema: expected \"heddle.kernel/1\", found \"heddle.kernel/2\" (this program reads version 1)");
  CHECK(fault(R"({"schema": "heddle.machine/1", "name": "t"})") ==
        "k.json: /schema: expected \"heddle.kernel/1\", found \"heddle.machine/1\" (this is a file of another kind)");
  CHECK(fault(R"({"schema": "hedle.kernel/1"})") ==
        "k.json: /schema: expected \"heddle.kernel/1\", found \"hedle.kernel/1\" (did you mean 'heddle.kernel/1'?)");
  CHECK(fault("[]") == "k.json: expected an object, found a list");
  // The keys of a machine are not called unknown one by one.
  std::vector<Fault> warnings;
  CHECK_FALSE(parse_kernel(R"({"schema": "heddle.machine/1", "units": [], "rules": []})", "k.json", &warnings).ok());
  CHECK_FALSE(parse_kernel(R"({"schema": 1, "units": [], "rules": []})", "k.json", &warnings).ok());
  CHECK(warnings.empty());
  CHECK(fault("12") == "k.json: expected an object, found 12");
  CHECK(fault(R"({"schema": "heddle.kernel/1"})") == "k.json: missing key 'name'\nk.json: missing key 'body'");
  CHECK(fault(R"({"schema": "heddle.kernel/1", "name": "t", "body": []})") ==
        "k.json: /body: the loop body has no ops; there is nothing to schedule");
}

TEST_CASE("a graph of plain numbers needs no values, tensors or prologue", "[core]") {
  const std::string text = R"({"schema": "heddle.kernel/1", "name": "imported", "body": [
    {"name": "tt.load_1", "kind": "opaque", "cost": {"uses": [{"unit": "TMA", "duration": 30}], "latency": 700, "window": 30,
     "warps": 1, "asynchronous": true, "variable_latency": true}},
    {"name": "dot_2", "kind": "opaque", "cost": {"uses": [{"unit": "TC", "offset": 4, "duration": 512}], "latency": 600}}],
    "order": [{"from": "tt.load_1", "to": "dot_2"}, {"from": "dot_2", "to": "dot_2", "latency": 512, "distance": 1}]})";
  const auto kernel = parse_kernel(text, "g.json");
  if (!kernel) FAIL(to_string(kernel.error()));
  CHECK(kernel->order[1].distance == 1);
  CHECK(kernel->body[0].cost->variable_latency == true);
  CHECK(parse_kernel(kernel_text(*kernel), "g.json").ok());

  std::string cyclic = text;
  cyclic.replace(cyclic.find("\"distance\": 1"), 13, "\"distance\": 0");
  CHECK(to_string(parse_kernel(cyclic, "g.json").error()).find("depends on itself within one iteration: dot_2 -> dot_2") !=
        std::string::npos);
  cyclic.replace(cyclic.find("\"distance\": 0"), 13, "\"distance\":-1");
  CHECK(to_string(parse_kernel(cyclic, "g.json").error()) == "g.json: /order/1/distance: expected an integer from 0 to 1048576, found -1");
}

TEST_CASE("huge and hostile files are refused in reasonable time, with the first hundred faults", "[core]") {
  Parts parts;
  std::string ops;
  for (int i = 0; i < 4000; ++i)
    ops += fmt::format(R"({}{{"name": "op_{}", "kind": "copy", "in": ["velue_{}"], "out": ["valeu_{}"]}})", i ? "," : "", i, i, i);
  std::string values;
  for (int i = 0; i < 4000; ++i)
    values += fmt::format(R"({}{{"name": "value_{}", "dtype": "f32", "shape": [4], "space": "smem", "alias_of": "value_{}"}})",
                          i ? "," : "", i, i + 1);
  parts.body = ops;
  parts.values = values;
  parts.prologue = parts.epilogue = "";
  const auto kernel = parse_kernel(parts.text(), "k.json");
  REQUIRE(!kernel.ok());
  CHECK(kernel.error().faults.size() == 101);
  CHECK(to_string(kernel.error().faults.back()) == "k.json: and 7901 more faults");

  for (int i = 0; i < 100; ++i) ops += R"(,{"name": "x", "kind": "copy"})";
  parts.body = ops;
  CHECK(to_string(parse_kernel(parts.text(), "k.json").error()) == "k.json: /body: expected at most 4096 items, found 4100");

  std::string keys = R"("a": 1)";
  for (int i = 0; i < 20000; ++i) keys += fmt::format(R"(, "{}": 1)", i);
  CHECK(to_string(parse_kernel("{" + keys + "}", "k.json").error()).find("more than 10000 keys in one object") != std::string::npos);
}
