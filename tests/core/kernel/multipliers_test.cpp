// Parameters that multiply and divide: where one is 1, the kernel is the one that its author would have written without it.
#include <catch2/catch.hpp>

#include "core/formats/kernel_json.h"
#include "core/instance/instance.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/multipliers.h"
#include "core/kernel/subtile.h"
#include "core/kernel/switches.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

/// Rows of Y go round those of X, EACH at a time.
constexpr const char* kText = R"J({"schema": "heddle.kernel/1", "name": "shares",
  "reference": "Y = repeat(X, EACH)",
  "params": [{"name": "N", "value": 2}, {"name": "EACH", "value": 1}],
  "tensors": [{"name": "X", "dtype": "f32", "shape": ["N", 64, 64], "role": "input"},
              {"name": "Y", "dtype": "f32", "shape": ["N*EACH", 64, 64], "role": "output"}],
  "grid": [{"name": "b", "size": "N"}],
  "loop": {"variable": "i", "trips": "EACH*2"},
  "values": [{"name": "x", "dtype": "f32", "shape": [64, 32], "space": "register"}],
  "body": [{"name": "load", "kind": "load", "tensor": "X", "at": ["b", 0, "i / EACH*32"], "out": ["x"]},
           {"name": "store", "kind": "store", "in": ["x"], "tensor": "Y", "at": ["b*EACH + i % EACH", 0, "i / EACH*32"]}]
})J";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Kernel read(const std::string& text) {
  const auto kernel = parse_kernel(text, "shares.json");
  if (!kernel) FAIL(to_string(kernel.error()));
  return *kernel;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a multiplier that is 1 is not there, and comes back where it is more", "[core]") {
  const Kernel one = read(kText);
  CHECK(one.loop.trips.text() == "2");
  CHECK(one.tensors[1].shape[0].text() == "N");
  CHECK(one.body[0].at[2].text() == "i*32");
  CHECK(one.body[1].at[0].text() == "b");
  CHECK(multipliers(as_in_file(one)) == Names{"EACH"});
  const auto report = evaluate(one, {});
  REQUIRE(report.ok());
  CHECK(report->pass);
  CHECK(report->params == Scope{{"N", 2}});

  const auto three = settled(one, {{"EACH", 3}});
  REQUIRE(three.ok());
  CHECK(three->body[1].at[0].text() == "b*EACH + i % EACH");
  const auto with_three = evaluate(one, {{"EACH", 3}});
  REQUIRE(with_three.ok());
  CHECK(with_three->pass);
  CHECK(with_three->params == Scope{{"EACH", 3}, {"N", 2}});
  CHECK(kernel_text(one, kText) == kernel_text(*three, kText));  // the file keeps it
}

TEST_CASE("what is 1 by default for another reason stays", "[core]") {
  const std::string text = kText;
  CHECK(multipliers(read(replaced(text, "\"value\": 1}", "\"value\": 2}"))).empty());
  // A number of its own, an addend, and what nothing is divided by, which may be a size at run time.
  CHECK(multipliers(as_in_file(read(replaced(text, "\"EACH*2\"", "\"EACH + 1\"")))).empty());
  CHECK(multipliers(as_in_file(read(replaced(text, "\"EACH*2\"", "\"EACH\"")))).empty());
  CHECK(multipliers(as_in_file(read(replaced(text, "{\"name\": \"N\", \"value\": 2}", "{\"name\": \"N\", \"value\": 1}")))) ==
        Names{"EACH"});
}

TEST_CASE("a kernel that was changed as it is without a multiplier takes no other value of it", "[core]") {
  const Kernel one = held(read(kText));
  REQUIRE(evaluate(one, {}).ok());
  CHECK(evaluate(one, {})->params == Scope{{"N", 2}});
  const auto report = evaluate(one, {{"EACH", 3}});
  REQUIRE_FALSE(report.ok());
  CHECK_THAT(to_string(report.error()), Catch::Contains("the kernel was changed as it is for such sizes"));
}

TEST_CASE("attention with a head of keys for each head of queries does not say so", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    if (!entry.name.starts_with("attention_forward") && !entry.name.starts_with("attention_backward")) continue;
    INFO(entry.name);
    const auto kernel = load_kernel(entry.name);
    REQUIRE(kernel.ok());
    CHECK(multipliers(as_in_file(*kernel)) == Names{"GROUP"});
    CHECK(multipliers(*kernel).empty());
  }
}
