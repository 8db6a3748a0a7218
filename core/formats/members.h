// One list of a part's members for everything: visit(io, part) names each of them once, and three visitors read it from JSON, write it,
// and print it as JSON Schema. Who adds a member to a format adds one line to one visit().
//
//   template <class Io>
//   void visit(Io& io, Unit& unit) {
//     io.required("name", unit.name, as::name);
//     io.always("capacity", unit.capacity, as::integer(1, 64), "amount available in every cycle");
//     io.optional("about", unit.about);
//   }
//
// required: a file without it is faulty. always: a file may leave it out, Heddle writes it. optional: Heddle writes it where it says
// something (no empty text, empty list, 0, false). for_people: Heddle neither reads nor writes it. Then come the value, what may stand
// there (namespace as; without it, what is usual for the C++ type) and a description for the schema. What is read stays as it was where the
// file has nothing, or nothing good, to say about it. Rules between members are ordinary code after the visit.
//
// Only .cpp files include this: it is all templates. visit() stands in namespace heddle, where it is found by its arguments.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/formats/schema.h"

namespace heddle {

// --- kinds: what may stand behind a member

namespace as {

template <class T>
void keep(T& value, std::optional<T> found) {
  if (found) value = *std::move(found);
}

struct Text {
  void read(const Cursor& at, std::string& value) const { keep(value, at.string()); }
  Json write(const std::string& value) const { return value; }
  Json schema(const std::string&, Json&) const { return schema::type("string"); }
};
inline constexpr Text text;

struct Label : Text {
  void read(const Cursor& at, std::string& value) const { keep(value, at.label()); }
  Json schema(const std::string&, Json& definitions) const { return schema::label(definitions); }
};
inline constexpr Label label;

/// As json_reader.h has it.
struct Name : Text {
  void read(const Cursor& at, std::string& value) const { keep(value, at.name()); }
  Json schema(const std::string&, Json& definitions) const { return schema::name(definitions); }
};
inline constexpr Name name;

/// A name that expressions can use; the code that follows a visit judges that.
struct Identifier : Name {
  Json schema(const std::string&, Json& definitions) const {
    return schema::matching(definitions, "identifier", "^[A-Za-z_][A-Za-z0-9_]*$");
  }
};
inline constexpr Identifier identifier;

struct Flag {
  void read(const Cursor& at, bool& value) const { keep(value, at.boolean()); }
  Json write(bool value) const { return value; }
  Json schema(bool, Json&) const { return schema::type("boolean"); }
};

struct Integer {
  std::int64_t low, high;
  template <std::integral T>
  void read(const Cursor& at, T& value) const {
    if (const auto found = at.integer(low, high)) value = static_cast<T>(*found);
  }
  Json write(std::int64_t value) const { return value; }
  Json schema(std::int64_t, Json&) const { return schema::integer(low, high); }
};
constexpr Integer integer(std::int64_t low, std::int64_t high) { return {low, high}; }
inline constexpr Integer any_integer{-kLargestNumber, kLargestNumber};
inline constexpr Integer count{0, kLargestNumber};

/// All 64 bits.
struct Seed {
  void read(const Cursor& at, std::uint64_t& value) const { keep(value, at.natural64()); }
  Json write(std::uint64_t value) const { return value; }
  Json schema(std::uint64_t, Json&) const;
};
inline constexpr Seed seed;

/// A number of at least 0.
struct Real {
  void read(const Cursor& at, double& value) const { keep(value, at.real()); }
  Json write(double value) const { return value; }
  Json schema(double, Json&) const { return schema::real(); }
};
inline constexpr Real real;

/// A number above 0.
struct Positive : Real {
  void read(const Cursor& at, double& value) const;
  Json schema(double, Json&) const { return schema::type("number").set("exclusiveMinimum", 0); }
};
inline constexpr Positive positive;

/// Any number; null where it is not finite.
struct Number {
  void read(const Cursor& at, double& value) const;
  Json write(double value) const { return value; }
  Json schema(double, Json&) const { return schema::or_null(schema::type("number")); }
};

/// An integer, or an expression in a string.
struct Expression {
  void read(const Cursor& at, Expr& value) const { keep(value, at.expr()); }
  Json write(const Expr& value) const;
  Json schema(const Expr&, Json& definitions) const { return schema::expression(definitions); }
};

/// A word of a vocabulary (words.h). `what` is for messages.
template <class E>
struct Word {
  const char* what;
  E last;
  void read(const Cursor& at, E& value) const { keep(value, found(at)); }
  std::optional<E> found(const Cursor& at) const {
    if (const std::string* word = at.json().string())
      if (const auto known = parse_word(*word, last)) return known;
    return at.word(what, words_up_to(last), [this](std::string_view word) { return parse_word(word, last); });
  }
  Json write(E value) const { return to_string(value); }
  Json schema(E, Json&) const { return schema::words(words_up_to(last)); }
};
template <class E>
constexpr Word<E> word(const char* what, E last) {
  return {what, last};
}

/// How many, and whether each only once, is said to the schema only: the code that follows a visit judges it in words of its own.
template <class Item>
struct List {
  Item item;
  std::size_t least = 0, most = kLongestList;
  bool distinct = false;
  template <class T>
  void read(const Cursor& at, std::vector<T>& list) const {
    for (const Cursor& place : at.items()) item.read(place, list.emplace_back());
  }
  template <class T>
  Json write(const std::vector<T>& list) const {
    Json items = Json::array();
    for (const T& value : list) items.push(item.write(value));
    return items;
  }
  template <class T>
  Json schema(const std::vector<T>&, Json& definitions) const {
    return schema::list(item.schema(T{}, definitions), least, most, distinct);
  }
};
template <class Item>
constexpr List<Item> list(Item item, std::size_t least = 0, std::size_t most = kLongestList, bool distinct = false) {
  return {item, least, most, distinct};
}

/// The same, or null: as if it were not there.
template <class Kind>
struct OrNull {
  Kind kind;
  template <class T>
  void read(const Cursor& at, T& value) const {
    if (!at.json().is_null()) kind.read(at, value);
  }
  template <class T>
  Json write(const T& value) const {
    return kind.write(value);
  }
  template <class T>
  Json schema(const T& value, Json& definitions) const {
    return schema::or_null(kind.schema(value, definitions));
  }
};
template <class Kind>
constexpr OrNull<Kind> or_null(Kind kind) {
  return {kind};
}
template <class Kind>
inline constexpr bool is_or_null = false;
template <class Kind>
inline constexpr bool is_or_null<OrNull<Kind>> = true;

/// Not read here, but by the code that follows the visit.
template <class Kind>
struct LeftToCode {
  Kind kind;
  template <class T>
  void read(const Cursor&, T&) const {}
  template <class T>
  Json write(const T& value) const {
    return kind.write(value);
  }
  template <class T>
  Json schema(const T& value, Json& definitions) const {
    return kind.schema(value, definitions);
  }
};
template <class Kind>
constexpr LeftToCode<Kind> left_to_code(Kind kind) {
  return {kind};
}

/// {"M": 128}
struct Params {
  void read(const Cursor& at, Scope& value) const;
  Json write(const Scope& value) const;
  Json schema(const Scope&, Json&) const { return schema::params(); }
};

/// What has a visit() of its own.
struct Part {
  template <class T>
  void read(const Cursor& at, T& value) const;
  template <class T>
  Json write(const T& value) const;
  template <class T>
  Json schema(const T& fresh, Json& definitions) const;
};
inline constexpr Part part;

/// A part that is read against something else, a problem for example. Its visit() takes both.
template <class T, class Context>
struct InContext {
  T& part;
  const Context& context;
};
template <class Context>
struct PartIn {
  const Context& context;
  template <class T>
  void read(const Cursor& at, T& value) const {
    InContext<T, Context> both{value, context};
    Part{}.read(at, both);
  }
  template <class T>
  Json write(const T& value) const {
    return Part{}.write(InContext<T, Context>{const_cast<T&>(value), context});
  }
  template <class T>
  Json schema(T fresh, Json& definitions) const {
    return Part{}.schema(InContext<T, Context>{fresh, context}, definitions);
  }
};
template <class Context>
constexpr PartIn<Context> part_in(const Context& context) {
  return {context};
}

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
constexpr auto usual() {
  if constexpr (std::same_as<T, std::string>)
    return Text{};
  else if constexpr (std::same_as<T, bool>)
    return Flag{};
  else if constexpr (std::integral<T>)
    return Integer{0, sizeof(T) < 8 ? std::numeric_limits<int>::max() : std::int64_t{1} << 62};
  else if constexpr (std::floating_point<T>)
    return Number{};
  else if constexpr (std::same_as<T, Expr>)
    return Expression{};
  else if constexpr (std::same_as<T, Scope>)
    return Params{};
  else if constexpr (is_list<T>)
    return list(usual<typename T::value_type>());
  else
    return Part{};
}

}  // namespace as

// --- visitors

/// What a value, or the function that answers it, is of, without "perhaps".
template <class T>
struct Unwrapped {
  using Type = T;
  static constexpr bool may_be_missing = false;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
  static constexpr bool may_be_missing = true;
};
template <>
struct Unwrapped<const char*> : Unwrapped<std::string> {};
template <>
struct Unwrapped<char*> : Unwrapped<std::string> {};
template <std::invocable T>
struct Unwrapped<T> : Unwrapped<std::decay_t<std::invoke_result_t<const T&>>> {};
template <class T>
using ValueOf = typename Unwrapped<std::decay_t<T>>::Type;

template <class T>
bool says_something(const T& value) {
  if constexpr (requires { value.has_value(); })
    return value.has_value();
  else if constexpr (requires { value.empty(); })
    return !value.empty();
  else if constexpr (std::same_as<T, Expr>)
    return !value.is_zero();
  else if constexpr (std::is_arithmetic_v<T>)
    return value != T{};
  else
    return true;
}

/// A member's key, and when it stands there.
struct MemberKey {
  const char* name;
  bool required, written;
  const char* about = "";  ///< for the schema
};

/// What every visitor can be told; Self::member does it.
template <class Self>
class Members {
 public:
  static constexpr bool reads = false;

  template <class T, class... More>
  void required(const char* key, T& value, const More&... more) {
    complete({key, true, true}, value, more...);
  }
  template <class T, class... More>
  void always(const char* key, T&& value, const More&... more) {
    static_assert(!Self::reads || std::is_lvalue_reference_v<T>, "what is read needs a place");
    complete({key, false, true}, value, more...);
  }
  template <class T, class... More>
  void optional(const char* key, T& value, const More&... more) {
    complete({key, false, says_something(value)}, value, more...);
  }
  /// May be left out; Heddle writes it unless `usual`.
  template <class T, class... More>
  void unless(bool usual, const char* key, T& value, const More&... more) {
    complete({key, false, !usual}, value, more...);
  }
  /// Always there; null where there is nothing.
  template <class T, class... More>
  void written(const char* key, const T& value, const More&... more) {
    tell({key, true, true}, value, more...);
  }
  template <class T, class... More>
  void written_if(bool there, const char* key, const T& value, const More&... more) {
    tell({key, false, there}, value, more...);
  }
  /// Follows from other members.
  void derived(const char* key, std::optional<double> value, const char* about = "") { written_if(value.has_value(), key, value, about); }
  /// Known, described, and otherwise left alone.
  void for_people(const char*, const char* /*type*/, const char* = "") {}
  /// What the schema says of the whole part. With a name, it stands among the definitions.
  void part(const char*, const char* = "") {}
  /// More that the schema says of the whole part.
  void also(std::vector<Json> (*)()) {}
  /// Exactly one of these members is given, whose own lines say that they are optional.
  void exactly_one(const std::vector<const char*>&, const char*) {}
  /// At least one of them; where there is none, the first is missing.
  void at_least_one(const std::vector<const char*>&) {}
  /// The part that is read breaks a rule between its members.
  void fault(std::string, std::string) {}
  /// Of the document so far.
  std::size_t faults() const { return 0; }

 private:
  template <class T>
  void complete(const MemberKey& key, T& value, const char* about = "") {
    complete(key, value, as::usual<ValueOf<T>>(), about);
  }
  template <class T, class Kind>
  requires(!std::convertible_to<const Kind&, const char*>) void complete(MemberKey key, T& value, const Kind& kind,
                                                                         const char* about = "") {
    key.about = about;
    static_cast<Self*>(this)->member(key, value, kind);
  }
  template <class T>
  void tell(const MemberKey& key, const T& value, const char* about = "") {
    tell(key, value, as::usual<ValueOf<T>>(), about);
  }
  template <class T, class Kind>
  requires(!std::convertible_to<const Kind&, const char*>) void tell(const MemberKey& key, const T& value, const Kind& kind,
                                                                     const char* about = "") {
    if constexpr (Self::reads)
      static_cast<Self*>(this)->known(key.name);
    else if constexpr (Unwrapped<std::decay_t<T>>::may_be_missing)
      complete(key, value, as::or_null(kind), about);
    else
      complete(key, value, kind, about);
  }
};

class MemberWriter : public Members<MemberWriter> {
 public:
  Json json = Json::object();

  template <class T, class Kind>
  void member(const MemberKey& key, const T& value, const Kind& kind) {
    if (!key.written) return;
    if constexpr (std::invocable<const T&>)
      member(key, value(), kind);
    else
      json.set(key.name, kind.write(value));
  }
  template <class T, class Kind>
  void member(const MemberKey& key, const std::optional<T>& value, const Kind& kind) {
    if (key.written) json.set(key.name, value ? kind.write(*value) : Json());
  }
  /// The member "kind", upon which it depends what `others` says.
  template <class E, class Others>
  void kind(const char*, const E& value, E, const Others& others) {
    json.set("kind", to_string(value));
    others();
  }
};

class MemberReader : public Members<MemberReader> {
 public:
  static constexpr bool reads = true;

  explicit MemberReader(ObjectReader& object) : object_(object) {}

  template <class T, class Kind>
  void member(const MemberKey& key, T& value, const Kind& kind) {
    if (const auto at = find(key.required, key.name)) kind.read(*at, value);
  }
  template <class T, class Kind>
  void member(const MemberKey& key, std::optional<T>& value, const Kind& kind) {
    const auto at = find(key.required, key.name);
    if (!at) return;
    if constexpr (as::is_or_null<Kind>)
      if (at->json().is_null()) return;
    const std::size_t faults = at->log().faults.size();
    T found{};
    kind.read(*at, found);
    if (at->log().faults.size() == faults) value = std::move(found);
  }
  void known(const char* key) { object_.find(key); }
  void for_people(const char* key, const char*, const char* = "") { object_.find(key); }
  void exactly_one(const std::vector<const char*>& keys, const char* hint);
  void at_least_one(const std::vector<const char*>& keys);
  void fault(std::string message, std::string hint);
  std::size_t faults() const { return object_.cursor().log().faults.size(); }
  template <class E, class Others>
  void kind(const char* what, E& value, E last, const Others& others) {
    const auto at = object_.require("kind");
    if (const auto word = at ? as::word(what, last).found(*at) : std::nullopt) {
      value = *word;
      return others();
    }
    // Without the kind it is not known which members belong here: no warning about any.
    only_known_ = true;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      value = static_cast<E>(i);
      others();
    }
    value = E{};
    only_known_ = false;
  }

 private:
  std::optional<Cursor> find(bool required, const char* key);

  ObjectReader& object_;
  bool only_known_ = false;  ///< nothing is read
};

class MemberSchema : public Members<MemberSchema> {
 public:
  explicit MemberSchema(schema::Object& object) : object_(object) {}

  template <class T, class Kind>
  void member(const MemberKey& key, const T&, const Kind& kind) {
    Json schema = kind.schema(ValueOf<T>{}, object_.definitions());
    key.required ? object_.required(key.name, std::move(schema), key.about) : object_.optional(key.name, std::move(schema), key.about);
  }
  void for_people(const char* key, const char* type, const char* about = "") { object_.optional(key, schema::type(type), about); }
  void part(const char* name, const char* about = "") { object_.called(name, about); }
  void also(std::vector<Json> (*clauses)()) {
    for (Json& clause : clauses()) object_.also(std::move(clause));
  }
  void exactly_one(const std::vector<const char*>& keys, const char*);
  void at_least_one(const std::vector<const char*>& keys);
  template <class E, class Others>
  void kind(const char*, E& value, E last, const Others& others) {
    const schema::Object before = object_;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      value = static_cast<E>(i);
      others();
      object_.end_of_kind(to_string(value), before);
    }
  }

 private:
  schema::Object& object_;
};

template <class T>
void read_members(ObjectReader& object, T& value) {
  MemberReader reader(object);
  visit(reader, value);
}

template <class T>
void as::Part::read(const Cursor& at, T& value) const {
  ObjectReader object(at);
  read_members(object, value);
}

template <class T>
Json as::Part::write(const T& value) const {
  MemberWriter writer;
  visit(writer, const_cast<T&>(value));  // visit() lists members for reading too; the writer changes nothing
  return std::move(writer.json);
}

template <class T>
Json as::Part::schema(const T& fresh, Json& definitions) const {
  schema::Object object(definitions);
  MemberSchema says(object);
  T part = fresh;
  visit(says, part);
  return object.finish();
}

// --- documents

template <class T>
Json document_json(const char* format, const T& value) {
  MemberWriter writer;
  writer.json.set("schema", format);
  visit(writer, const_cast<T&>(value));
  return std::move(writer.json);
}

template <class T>
void say_members(schema::Object& root) {
  MemberSchema says(root);
  T fresh{};
  visit(says, fresh);
}

/// The same as a part of another document's schema.
template <class T>
Json inner_schema(const char* format, const char* name, Json& definitions) {
  schema::Object object(definitions);
  object.called(name).required("schema", Json::object().set("const", format));
  say_members<T>(object);
  return object.finish();
}

template <class T>
Json document_schema(const char* format, const char* title) {
  return schema::document(format, title, say_members<T>);
}

/// Of a document that does not name its format.
template <class T>
Json nameless_schema(const char* format, const char* title) {
  return schema::line(format, title, say_members<T>);
}

}  // namespace heddle
