// What an editor offers while a text is typed, and where in a text a fault is.
#include "core/formats/completion.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "core/base/atomic_file.h"
#include "core/base/json_outline.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "tests/support/mutate_json.h"

using namespace heddle;

namespace {

/// The text with the bar taken out, and where it stood.
std::pair<std::string, std::size_t> at_bar(std::string text) {
  const std::size_t bar = text.find('|');
  return {text.erase(bar, 1), bar};
}

std::vector<std::string> words_at(const std::string& with_bar) {
  static const Json schema = kernel_schema();
  const auto [text, offset] = at_bar(with_bar);
  std::vector<std::string> words;
  for (const Completion& item : complete(schema, text, offset).items) words.push_back(item.word);
  return words;
}

std::string completed(const std::string& with_bar, const std::string& word) {
  static const Json schema = kernel_schema();
  auto [text, offset] = at_bar(with_bar);
  const Completions all = complete(schema, text, offset);
  const auto found = std::find_if(all.items.begin(), all.items.end(), [&](const Completion& c) { return c.word == word; });
  if (found == all.items.end()) return "not offered";
  return text.replace(all.begin, all.end - all.begin, found->insert);
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("a pointer has its place in a text, the nearest one that is there", "[completion]") {
  const std::string text = "{\n \"a\": [\n  1,\n  {\"b~/\": \"x\"}\n ]\n}\n";
  const std::vector<JsonToken> tokens = json_tokens(text);
  const auto line = [&](const char* pointer) { return line_of(text, json_token_at(tokens, pointer)->begin); };
  CHECK(line("") == 0);
  CHECK(line("/a") == 1);
  CHECK(line("/a/0") == 2);
  CHECK(line("/a/1/b~0~1") == 3);
  CHECK(line("/a/1/c") == 3);
  CHECK(line("/nowhere") == 0);
  CHECK(json_token_at(json_tokens(" \n"), "/a") == nullptr);
}

TEST_CASE("a fault has the line of its pointer, one of syntax that which it names", "[completion]") {
  const std::string text = "{\"schema\": \"heddle.kernel/1\",\n\"name\": \"k\",\n\"body\": [\n {\"name\": \"a\", \"kind\": \"mna\"}\n]}\n";
  const auto kernel = parse_kernel(text, "k.json");
  REQUIRE_FALSE(kernel.ok());
  CHECK(line_of_fault(text, json_tokens(text), kernel.error().faults.front()) == 3);
  const std::string broken = "{\"schema\": \"heddle.kernel/1\",\n\"name\": \"k\"\n\"body\": []}\n";
  const auto none = parse_kernel(broken, "k.json");
  REQUIRE_FALSE(none.ok());
  CHECK(line_of_fault(broken, json_tokens(broken), none.error().faults.front()) == 2);
}

TEST_CASE("members that are not there yet are offered, with what they mean", "[completion]") {
  CHECK(has(words_at("{\"schema\": \"heddle.kernel/1\", \"|"), "body"));
  CHECK_FALSE(has(words_at("{\"schema\": \"heddle.kernel/1\", \"|"), "schema"));
  CHECK(has(words_at("{\"body\": [{\"name\": \"x\", |"), "kind"));
  CHECK_FALSE(has(words_at("{\"body\": [{\"name\": \"x\", | \"kind\": \"mma\"}]}"), "kind"));
  CHECK(words_at("{\"body\": [{\"name\": \"x\", \"te|") == std::vector<std::string>{"tensor"});
}

TEST_CASE("kinds, and attributes of just this kind, are offered", "[completion]") {
  CHECK(has(words_at("{\"body\": [{\"kind\": \"|"), "tma_load"));
  CHECK(words_at("{\"body\": [{\"kind\": \"tma_|\"}]}") == std::vector<std::string>{"tma_load", "tma_store"});
  const auto of_mma = words_at("{\"body\": [{\"kind\": \"mma\", \"attrs\": {\"|");
  CHECK(has(of_mma, "transpose_b"));
  CHECK_FALSE(has(of_mma, "fn"));
  CHECK(has(words_at("{\"body\": [{\"kind\": \"elementwise\", \"attrs\": {\"fn\": \"|"), "gelu"));
  CHECK(words_at("{\"body\": [{\"kind\": \"mma\", \"attrs\": {\"transpose_b\": |") == std::vector<std::string>{"true", "false"});
  const auto [text, offset] = at_bar("{\"body\": [{\"kind\": \"mm|");
  CHECK(complete(kernel_schema(), text, offset).items.front().about.starts_with("D = A B + C"));
}

TEST_CASE("names that the text defines are offered where they can stand", "[completion]") {
  const std::string front =
      "{\"tensors\": [{\"name\": \"A\"}], \"prologue\": [{\"name\": \"z\", \"out\": [\"c\"]}], \"body\": [{\"out\": [\"t\"]}, ";
  CHECK(words_at(front + "{\"tensor\": \"|") == std::vector<std::string>{"A"});
  CHECK(words_at(front + "{\"in\": [\"|") == std::vector<std::string>{"c", "t", "c[-1]"});
  CHECK(words_at(front + "{\"in\": [\"t\", |") == std::vector<std::string>{"c", "t", "c[-1]"});
}

TEST_CASE("what is inserted completes the quotes and the colon that are missing", "[completion]") {
  CHECK(completed("{\"body\": [{\"ki|", "kind") == "{\"body\": [{\"kind\": ");
  CHECK(completed("{\"body\": [{\"ki|\"", "kind") == "{\"body\": [{\"kind\"");
  CHECK(completed("{\"body\": [{ |", "kind") == "{\"body\": [{ \"kind\": ");
  CHECK(completed("{\"body\": [{\"kind\": |", "mma") == "{\"body\": [{\"kind\": \"mma\"");
  CHECK(completed("{\"body\": [{\"kind\": \"m|\"}]}", "mma") == "{\"body\": [{\"kind\": \"mma\"}]}");
  CHECK(completed("{\"producer\": f|", "false") == "{\"producer\": false");
}

TEST_CASE("where nothing can be typed nothing is offered", "[completion]") {
  CHECK(words_at("|").empty());
  CHECK(words_at("{\"name\": \"x\"|").empty());
  CHECK(words_at("{\"name\"|").empty());
  CHECK(words_at("{}|").empty());
  CHECK(words_at("]]]}}:,|").empty());
}

TEST_CASE("every place of every shipped kernel and machine can be asked about", "[completion]") {
  const Json kernels = kernel_schema(), machines = machine_schema();
  for (const Shelf shelf : {Shelf::Kernels, Shelf::Machines})
    for (const LibraryEntry& entry : list_library(shelf)) {
      const auto text = read_file(entry.path);
      REQUIRE(text.ok());
      for (std::size_t at = 0; at <= text->size(); at += 211) {
        const Completions all = complete(shelf == Shelf::Kernels ? kernels : machines, *text, at);
        CHECK(all.begin <= all.end);
        CHECK(all.end <= text->size());
      }
    }
}

TEST_CASE("broken texts have outlines and completions too", "[completion][property]") {
  constexpr std::uint64_t kSeed = 20261123;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const Json schema = kernel_schema();
  const auto text = read_file(find_in_library(Shelf::Kernels, "attention_forward_hopper").value());
  REQUIRE(text.ok());
  for (int i = 0; i < 300; ++i) {
    const std::string broken = test::mutate_json(*text, random);
    const std::vector<JsonToken> tokens = json_tokens(broken);
    std::size_t end = 0;
    for (const JsonToken& token : tokens) {
      CHECK(token.begin >= end);
      CHECK(token.end > token.begin);
      end = token.end;
    }
    CHECK(end <= broken.size());
    if (const auto kernel = parse_kernel(broken, "k.json"); !kernel.ok())
      for (const Fault& fault : kernel.error().faults)
        CHECK(line_of_fault(broken, tokens, fault) <= static_cast<std::size_t>(std::count(broken.begin(), broken.end(), '\n')));
    const Completions all = complete(schema, broken, random() % (broken.size() + 1));
    CHECK(all.end <= broken.size());
  }
}
