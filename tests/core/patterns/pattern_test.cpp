// The patterns of heddle new: every option at every value gives a kernel that a reader takes, and bad options are all named.
#include <catch2/catch.hpp>

#include "core/formats/kernel_json.h"
#include "core/patterns/pattern.h"

using namespace heddle;

namespace {

/// Faults of the kernel as a file; empty when it reads, and writes the same text again.
std::string faults_of(const Pattern& pattern, const PatternChoices& choices) {
  const Result<Kernel> kernel = kernel_of(pattern, choices);
  if (!kernel) return to_string(kernel.error());
  const std::string text = kernel_text(*kernel);
  std::vector<Fault> warnings;
  const Result<Kernel> read = parse_kernel(text, "k.json", &warnings);
  if (!read) return to_string(read.error());
  for (const Fault& warning : warnings) return to_string(warning);
  return kernel_text(*read) == text ? "" : "the text changes when it is read and written";
}

}  // namespace

TEST_CASE("every option of every pattern gives a sound kernel at each of its values", "[core]") {
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    CHECK(faults_of(pattern, {}) == "");
    CHECK(kernel_of(pattern, {})->name == pattern.name);
    CHECK(kernel_of(pattern, {}, "mine")->name == "mine");
    CHECK_FALSE(kernel_of(pattern, {})->reference.empty());
    for (const PatternOption& option : pattern.options) {
      CAPTURE(option.name);
      CHECK(option_fault(option, option.standard) == "");
      std::vector<std::string> values = option.choices;
      if (option.type == PatternOption::Type::Integer) values = {std::to_string(option.low)};
      for (const std::string& value : values) {
        PatternChoices choices{{option.name, value}};
        if (option.name == "kv_len" || option.name == "kv") choices["q_len"] = "1", choices["kv_len"] = "4435200";  // of any key tile
        CAPTURE(value);
        CHECK(faults_of(pattern, choices) == "");
      }
    }
  }
}

TEST_CASE("bad options of a pattern are all named, with what was probably meant", "[core]") {
  const auto said = kernel_of(*find_pattern("gemm"), {{"bais", "yes"}, {"activation", "gleu"}, {"n", "8191"}, {"k", "many"}});
  REQUIRE_FALSE(said.ok());
  CHECK(to_string(said.error()) ==
        "/activation: 'activation' cannot be 'gleu'; expected none, relu, gelu, silu, sigmoid or tanh (did you mean 'gelu'?)\n"
        "/bais: 'gemm' has no option 'bais' (did you mean 'bias'?)\n"
        "/k: 'k' cannot be 'many'; expected 8 to 16777216, a multiple of 8\n"
        "/n: 'n' cannot be '8191'; expected 8 to 16777216, a multiple of 8");
  const Pattern& attention = *find_pattern("attention");
  CHECK(kernel_of(attention, {{"kv_len", "1000"}}).ok());
  CHECK(to_string(kernel_of(attention, {{"mask", "blocks"}, {"q_len", "8192"}, {"kv_len", "1000"}}).error()) ==
        "/kv_len: 'kv_len' is 1000, no multiple of the 128 keys per loop step (896 or 1024 would be one)");
  CHECK_FALSE(kernel_of(attention, {{"mask", "causal"}, {"kv_len", "128"}, {"q_len", "256"}}).ok());
  CHECK_FALSE(kernel_of(*find_pattern("attention_backward"), {{"mask", "causal"}, {"kv_len", "128"}, {"q_len", "256"}}).ok());
  CHECK(find_pattern("gem") == nullptr);
}
