#include "core/formats/completion.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/json_outline.h"

namespace heddle {
namespace {

std::vector<std::string> parts_of(std::string_view pointer) {
  std::vector<std::string> parts;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    const std::size_t slash = std::min(pointer.find('/'), pointer.size());
    std::string part;
    for (std::size_t i = 0; i < slash; ++i) {
      if (pointer[i] == '~' && i + 1 < slash) {
        part += pointer[++i] == '0' ? '~' : '/';
        continue;
      }
      part += pointer[i];
    }
    parts.push_back(std::move(part));
    pointer.remove_prefix(slash);
  }
  return parts;
}

/// A text with its tokens.
struct Outline {
  std::string_view text;
  std::vector<JsonToken> tokens;

  std::string string_at(const JsonToken& token) const {
    std::string_view s = text.substr(token.begin, token.end - token.begin);
    if (!s.empty() && s.front() == '"') s.remove_prefix(1);
    if (!s.empty() && s.back() == '"') s.remove_suffix(1);
    return std::string(s);
  }
  std::optional<std::string> value_of(const std::string& pointer) const {
    for (const JsonToken& token : tokens)
      if (token.kind == JsonToken::Kind::String && token.pointer == pointer) return string_at(token);
    return std::nullopt;
  }
  /// Keys of an object, but not one that touches the caret.
  std::set<std::string> keys_of(const std::string& object, std::size_t caret) const {
    std::set<std::string> keys;
    for (const JsonToken& token : tokens) {
      if (token.kind != JsonToken::Kind::Key || (token.begin <= caret && caret <= token.end)) continue;
      const std::size_t slash = token.pointer.rfind('/');
      if (slash != std::string::npos && token.pointer.compare(0, slash, object) == 0 && slash == object.size())
        keys.insert(string_at(token));
    }
    return keys;
  }
  /// The strings whose pointer has this shape; '*' stands for one part: "/values/*/name". In the order of the text, each once.
  std::vector<std::string> strings(std::string_view shape) const {
    const std::vector<std::string> wanted = parts_of(shape);
    std::vector<std::string> found;
    for (const JsonToken& token : tokens) {
      if (token.kind != JsonToken::Kind::String) continue;
      const std::vector<std::string> parts = parts_of(token.pointer);
      const bool fits = parts.size() == wanted.size() &&
                        std::equal(parts.begin(), parts.end(), wanted.begin(),
                                   [](const std::string& part, const std::string& want) { return want == "*" || part == want; });
      if (std::string value = string_at(token); fits && std::find(found.begin(), found.end(), value) == found.end())
        found.push_back(std::move(value));
    }
    return found;
  }
};

/// Goes down a schema beside a text.
class SchemaWalk {
 public:
  SchemaWalk(const Json& root, const Outline& outline) : root_(root), outline_(outline) {}

  /// Everything that holds of the value at this pointer.
  std::vector<const Json*> at(std::string_view pointer) const {
    std::vector<const Json*> here = whole(&root_, "");
    std::string so_far;
    for (const std::string& part : parts_of(pointer)) {
      so_far = pointer_to(so_far, part);
      std::vector<const Json*> below;
      for (const Json* schema : here) {
        const Json* properties = schema->find("properties");
        if (const Json* member = properties ? properties->find(part) : nullptr) add(member, so_far, below);
        if (const Json* items = schema->find("items")) add(items, so_far, below);
      }
      here = std::move(below);
    }
    return here;
  }

 private:
  std::vector<const Json*> whole(const Json* schema, const std::string& pointer) const {
    std::vector<const Json*> all;
    add(schema, pointer, all);
    return all;
  }

  /// With what it refers to, its alternatives, and the clauses whose condition the text meets.
  void add(const Json* schema, const std::string& pointer, std::vector<const Json*>& all) const {
    if (all.size() > kMost) return;
    all.push_back(schema);
    if (const Json* ref = schema->find("$ref"); ref && ref->string()) {
      constexpr std::string_view kDefinitions = "#/$defs/";
      const Json* definitions = root_.find("$defs");
      if (const std::string& name = *ref->string(); definitions && name.starts_with(kDefinitions))
        if (const Json* definition = definitions->find(name.substr(kDefinitions.size()))) add(definition, pointer, all);
    }
    for (const char* key : {"allOf", "anyOf", "oneOf"})
      if (const Json* list = schema->find(key); list && list->items())
        for (const Json& item : *list->items())
          if (const Json* what = item.find("if") ? then_of(item, pointer) : &item) add(what, pointer, all);
  }

  /// What follows from a clause whose condition the text meets.
  const Json* then_of(const Json& clause, const std::string& pointer) const {
    const Json* properties = clause.find("if")->find("properties");
    if (!properties || !properties->members()) return nullptr;
    for (const JsonMember& member : *properties->members()) {
      const Json* constant = member.value.find("const");
      if (!constant || !constant->string() || outline_.value_of(pointer_to(pointer, member.key)) != *constant->string()) return nullptr;
    }
    return clause.find("then");
  }

  static constexpr std::size_t kMost = 64;
  const Json& root_;
  const Outline& outline_;
};

std::string about_of(const std::vector<const Json*>& schemas) {
  for (const Json* schema : schemas)
    if (const Json* about = schema->find("description"); about && about->string()) return *about->string();
  return {};
}

/// What a clause of the object around says of one word of a member: what a kind of op does.
std::string about_word(const std::vector<const Json*>& object, const std::string& member, const std::string& word) {
  for (const Json* schema : object) {
    const Json* clauses = schema->find("allOf");
    if (!clauses || !clauses->items()) continue;
    for (const Json& clause : *clauses->items()) {
      const Json* at = clause.find("if");
      for (const char* key : {"properties", member.c_str(), "const"}) at = at ? at->find(key) : nullptr;
      const Json* then = at && at->string() && *at->string() == word ? clause.find("then") : nullptr;
      if (const Json* about = then ? then->find("description") : nullptr; about && about->string()) return *about->string();
    }
  }
  return {};
}

/// The names that a place refers to, which no schema knows: operands, tensors, ops.
std::vector<std::string> names_for(const Outline& outline, const std::vector<std::string>& parts) {
  const auto many = [&](std::initializer_list<const char*> shapes) {
    std::vector<std::string> all;
    for (const char* shape : shapes)
      for (std::string& name : outline.strings(shape))
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
    return all;
  };
  const auto values = [&] { return many({"/values/*/name", "/prologue/*/out/*", "/body/*/out/*", "/epilogue/*/out/*"}); };
  if (parts.size() == 4 && parts[2] == "in") {
    std::vector<std::string> names = values();
    for (const std::string& name : many({"/prologue/*/out/*"})) names.push_back(name + "[-1]");  // what is carried from step to step
    return names;
  }
  if (parts.size() == 4 && parts[2] == "out") return values();
  if (parts.size() == 3 && parts[2] == "tensor") return many({"/tensors/*/name"});
  if (parts.size() == 3 && parts[2] == "alias_of") return values();
  if (parts.size() == 3 && parts[0] == "order" && (parts[2] == "from" || parts[2] == "to")) return many({"/body/*/name"});
  if (!parts.empty() && parts.back() == "unit") return many({"/units/*/name"});
  return {};
}

}  // namespace

Completions complete(const Json& schema, std::string_view text, std::size_t offset) {
  const JsonCaret caret = json_caret(text, offset);
  if (caret.expects == JsonCaret::Expects::Nothing) return {};
  const Outline outline{text, json_tokens(text)};
  const SchemaWalk walk(schema, outline);
  std::vector<Completion> all;
  const auto offer = [&](const std::string& word, const std::string& about, bool quoted, bool key) {
    if (std::any_of(all.begin(), all.end(), [&](const Completion& c) { return c.word == word; })) return;
    // A quote that closes the string behind the caret stays where it is.
    const bool closed = offset < text.size() && text[offset] == '"';
    std::string insert = quoted && !caret.in_string ? "\"" + word : word;
    if (quoted && !(caret.in_string && closed)) insert += key ? "\": " : "\"";
    all.push_back({word, std::move(insert), about});
  };
  const std::vector<const Json*> here = walk.at(caret.pointer);
  if (caret.expects == JsonCaret::Expects::Key) {
    const std::set<std::string> taken = outline.keys_of(caret.pointer, offset);
    for (const Json* known : here) {
      const Json* properties = known->find("properties");
      if (!properties || !properties->members()) continue;
      for (const JsonMember& member : *properties->members())
        if (!taken.contains(member.key)) offer(member.key, about_of(walk.at(pointer_to(caret.pointer, member.key))), true, true);
    }
  } else {
    const std::size_t slash = caret.pointer.rfind('/');
    const std::vector<const Json*> around =
        slash == std::string::npos ? std::vector<const Json*>() : walk.at(caret.pointer.substr(0, slash));
    const std::string member = slash == std::string::npos ? std::string() : caret.pointer.substr(slash + 1);
    for (const Json* known : here) {
      if (const Json* constant = known->find("const"); constant && constant->string()) offer(*constant->string(), "", true, false);
      const Json* words = known->find("enum");
      for (std::size_t i = 0; words && words->items() && i < words->items()->size(); ++i)
        if (const std::string* word = (*words->items())[i].string()) {
          const std::string about = about_word(around, member, *word);
          offer(*word, about.empty() ? about_of(here) : about, true, false);
        }
      if (const Json* type = known->find("type"); type && type->string() && *type->string() == "boolean" && !caret.in_string)
        for (const char* word : {"true", "false"}) offer(word, about_of(here), false, false);
    }
    for (const std::string& name : names_for(outline, parts_of(caret.pointer))) offer(name, "", true, false);
  }
  // What begins with what is typed comes first, what only has it somewhere next; one that is typed in full needs no help.
  const auto rank = [&](const Completion& c) {
    return c.word.starts_with(caret.typed) ? 0 : c.word.find(caret.typed) != std::string::npos ? 1 : 2;
  };
  std::erase_if(all, [&](const Completion& c) { return rank(c) == 2; });
  std::stable_sort(all.begin(), all.end(), [&](const Completion& a, const Completion& b) { return rank(a) < rank(b); });
  if (all.size() == 1 && all.front().word == caret.typed) all.clear();
  return {caret.begin, std::min(offset, text.size()), std::move(all)};
}

}  // namespace heddle
