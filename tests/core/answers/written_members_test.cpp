// Members that are only written: of an answer's JSON, of its schema, and of its CSV.
#include <catch2/catch.hpp>

#include "core/answers/answer_members.h"
#include "core/answers/csv_members.h"
#include "tests/support/json_schema.h"
#include "tests/support/problem_builder.h"

using namespace heddle;

namespace {

struct MemberPart {
  std::optional<Cycle> ii;
  std::vector<OpId> ops;
  double mean = 0;
  bool valid = false;
};

/// Knows its ops only where it is written: where it is described there is no problem.
struct MemberWhole {
  const Problem& problem = blank<Problem>;
  const MemberPart& part = blank<MemberPart>;
};

template <class Io>
void visit(Io& io, const MemberWhole& whole) {
  const MemberPart& part = whole.part;
  io.written("ii", part.ii, "cycles"), io.written("valid", part.valid);
  io.written("first", [&] { return whole.problem.op(part.ops.front()).name; });
  io.written_if(part.mean > 0, "mean", part.mean, as::fixed(1));
}

struct MemberRow {
  std::string name;
  std::optional<double> gap;
  bool valid = false;
};

template <class Io>
void visit(Io& io, const MemberRow& row) {
  io.written("name", [&] { return row.name; }), io.written("gap", row.gap, as::fixed(2)), io.written_if(row.valid, "valid", row.valid);
}

struct MemberNames {
  const Problem& problem = blank<Problem>;
  std::vector<OpId> ops{};
};

template <class Io>
void visit(Io& io, const MemberNames& of) {
  io.written("ops", of.ops, as::list(as::NameIn{of.problem})), io.written("seconds", 0.12345678, as::seconds);
  io.written("ring", ChannelId(), as::or_null(as::NameIn{of.problem}));
}

}  // namespace

TEST_CASE("a member that is only written is null where it is missing, and a function is asked by the writer alone", "[core]") {
  const Problem problem = test::toy_problem();
  const MemberPart part{std::nullopt, {OpId(1)}, 0, true};
  CHECK(as::part.write(MemberWhole{problem, part}).line() == R"({"ii": null, "valid": true, "first": "P"})");
  const MemberPart other{7, {OpId(0)}, 2.25, false};
  CHECK(as::part.write(MemberWhole{problem, other}).line().starts_with(R"({"ii": 7, "valid": false, "first": "S", "mean": "2.)"));
}

TEST_CASE("ops stand by their names, and a schema takes what was written", "[core]") {
  const Problem problem = test::toy_problem();
  const Json schema = nameless_schema<MemberNames>("heddle.test/1", "A test"),
             json = as::part.write(MemberNames{problem, {OpId(0), OpId(2)}});
  CHECK(json.line() == R"({"ops": ["S", "O"], "seconds": 0.123457, "ring": null})");
  CHECK(test::schema_fault(schema, json) == "");
  CHECK(test::schema_fault(schema, Json::object()) != "");
  CHECK(*schema.find("$id")->string() == "urn:heddle:test:1");
}

TEST_CASE("the heads of a CSV are the members, its fields what they write", "[core]") {
  CHECK(csv_of(std::vector<MemberRow>{}) == "name,gap,valid\r\n");
  CHECK(csv_of(std::vector<MemberRow>{{"a", 1.5, true}, {"b", std::nullopt, false}}) == "name,gap,valid\r\na,1.50,1\r\nb,,\r\n");
}
