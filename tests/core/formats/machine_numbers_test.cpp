// Numbers of machine texts: all of them, with their places, and the text with another one.
#include "core/formats/machine_numbers.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

const MachineNumber* find(const std::vector<MachineNumber>& numbers, const std::string& part, const std::string& name) {
  const auto found = std::find_if(numbers.begin(), numbers.end(), [&](const MachineNumber& n) { return n.part == part && n.name == name; });
  return found == numbers.end() ? nullptr : &*found;
}

std::string text_of(const std::string& path) {
  const auto text = read_file(path);
  REQUIRE(text);
  return *text;
}

}  // namespace

TEST_CASE("every number of a shipped machine is listed with what it belongs to, its unit and its source", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Machines)) {
    INFO(entry.path);
    const std::string text = text_of(entry.path);
    const std::vector<MachineNumber> numbers = machine_numbers(text);
    CHECK(numbers.size() > 10);
    for (const MachineNumber& n : numbers) {
      INFO(n.part << " " << n.name);
      CHECK_FALSE(n.part.empty());
      CHECK_FALSE(n.value.empty());
      CHECK(text.substr(n.begin, n.end - n.begin).find(n.value.substr(0, n.value.find('\\'))) != std::string::npos);
    }
    // What stands there already changes nothing.
    for (const MachineNumber& n : numbers) CHECK(parse_machine(with_number(text, n, n.value), "again").ok());
  }
  const auto h100 = load_machine("h100");
  REQUIRE(h100);
  const std::string text = text_of(h100->file);
  const std::vector<MachineNumber> numbers = machine_numbers(text);
  const MachineNumber* turn = find(numbers, "streams", "turn");
  REQUIRE(turn);
  CHECK(turn->value == "40");
  CHECK(turn->unit == "cycles");
  CHECK(turn->source.starts_with("30 to 50 cycles for a named barrier"));
  const MachineNumber* latency = find(numbers, "tma_load", "latency");
  REQUIRE(latency);
  CHECK(latency->expression);
  CHECK(latency->value == "450 + ceil_div(bytes, 64)");
  REQUIRE(find(numbers, "tma_load", "TMA duration"));
  REQUIRE(find(numbers, "limits", "smem_bytes"));
  CHECK(find(numbers, "limits", "smem_bytes")->unit == "bytes");
  CHECK(find(numbers, "clock", "loaded_mhz")->unit == "MHz");
  CHECK(find(numbers, "clock", "loaded_mhz")->standing == "fitted");
  CHECK(find(numbers, "clock", "max_mhz")->standing == "published");
}

TEST_CASE("another number changes that number alone", "[core]") {
  const auto h100 = load_machine("h100");
  REQUIRE(h100);
  const std::string text = text_of(h100->file);
  const std::vector<MachineNumber> numbers = machine_numbers(text);
  const auto changed = parse_machine(with_number(text, *find(numbers, "streams", "turn"), " 44 "), "changed");
  REQUIRE(changed);
  CHECK(changed->streams.turn == 44);
  CHECK(changed->limits.smem_bytes == h100->limits.smem_bytes);
  const auto formula = parse_machine(with_number(text, *find(numbers, "tma_load", "latency"), "500 + ceil_div(bytes, 32)"), "changed");
  REQUIRE(formula);
  // A faulty one is a fault of the text, not of the table.
  CHECK_FALSE(parse_machine(with_number(text, *find(numbers, "streams", "turn"), "forty \"two\" \\"), "changed"));
  CHECK_FALSE(parse_machine(with_number(text, *find(numbers, "limits", "smem_bytes"), ""), "changed"));
}

TEST_CASE("a text that ends anywhere has the numbers before that", "[core]") {
  const auto h100 = load_machine("h100");
  REQUIRE(h100);
  const std::string text = text_of(h100->file);
  const std::size_t all = machine_numbers(text).size();
  for (std::size_t length = 0; length < text.size(); length += 97) CHECK(machine_numbers(text.substr(0, length)).size() <= all);
  CHECK(machine_numbers(std::string(100'000, '[')).empty());
  CHECK(machine_numbers(std::string(100'000, '{')).empty());
}
