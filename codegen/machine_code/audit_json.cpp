// The audit as JSON, and what a schema says of it.
#include "codegen/machine_code/audit.h"
#include "core/formats/schema.h"

namespace heddle::codegen {
namespace {

Json time_json(const LoopTime& time, const Kernel& kernel, const Emission& emission) {
  Json waits = Json::array();
  for (const LoopTime::Wait& wait : time.waits) {
    Json json = Json::object();
    json.set("at", to_string(wait.point));
    if (wait.span) json.set("op", op_of(kernel, emission.lines[*wait.span].op).name).set("line", emission.lines[*wait.span].first_line);
    waits.push(json.set("cycles", wait.cycles));
  }
  return Json::object().set("iteration", time.iteration).set("turn", time.turn).set("held", time.held).set("waits", std::move(waits));
}

/// How many of each kind.
Json counts_schema() {
  std::vector<std::string> names;
  for (int c = 0; c < kOpClasses; ++c) names.emplace_back(to_string(static_cast<OpClass>(c)));
  return schema::type("object").set("propertyNames", schema::words(names)).set("additionalProperties", schema::count());
}

Json time_schema(Json& definitions) {
  schema::Object wait(definitions);
  wait.required("at", schema::words({to_string(StepKind::Retire), to_string(StepKind::TakeTurn)}))
      .optional("op", schema::type("string"))
      .optional("line", schema::count(), "of the text")
      .required("cycles", schema::count());
  schema::Object time(definitions);
  time.required("iteration", schema::count(), "cycles, like all that follows")
      .required("turn", schema::count(), "between taking turns and passing them")
      .required("held", schema::count(), "at wgmmas until they are accepted")
      .required("waits", schema::list(wait.finish()), "for products and turns");
  return schema::or_null(
      time.called("loop_time", "the loop as compiled beside those of the other roles, predicted from machine code").finish());
}

}  // namespace

Json audit_json(const MachineAudit& audit, const Kernel& kernel, const Program& program, const Emission& emission) {
  if (!audit.lines) return {};
  const auto counts_json = [](const ClassCounts& counts) {
    Json json = Json::object();
    for (int c = 0; c < kOpClasses; ++c)
      if (const int count = counts.of[static_cast<std::size_t>(c)]) json.set(to_string(static_cast<OpClass>(c)), count);
    return json;
  };
  const auto name = [&](OpRef op) { return op_of(kernel, op).name; };
  Json loops = Json::array();
  for (const RoleLoopAudit& loop : audit.loops) {
    Json stretches = Json::array(), turns = Json::array(), drains = Json::array(), interrupted = Json::array(), reordered = Json::array(),
         moved = Json::array();
    for (const Stretch& stretch : loop.stretches) {
      Json json = Json::object();
      json.set("from", stretch.span ? to_string(stretch.point) : "head");
      if (stretch.span) json.set("op", name(emission.lines[*stretch.span].op)).set("line", emission.lines[*stretch.span].first_line);
      stretches.push(json.set("counts", counts_json(stretch.counts)).set("issue", stretch.counts.issue()));
    }
    for (const TurnGap& turn : loop.turns)
      turns.push(Json::object().set("op", name(turn.op)).set("instructions", turn.instructions).set("issue", turn.issue));
    for (const Drain& drain : loop.drains) drains.push(Json::object().set("op", name(drain.op)).set("issue", drain.issue));
    for (const Interrupted& batch : loop.interrupted)
      interrupted.push(Json::object().set("op", name(batch.op)).set("gap", batch.gap).set("wgmma", batch.wgmma));
    for (const Reordered& one : loop.reordered)
      reordered.push(Json::object().set("line", one.early.line).set("before_line", one.late.line));
    for (const Moved& one : loop.moved)
      moved.push(Json::object()
                     .set("op", name(one.op))
                     .set("instructions", one.of)
                     .set("later", one.down)
                     .set("earlier", one.up)
                     .set("past_line", emission.lines[one.past].first_line));
    loops.push(Json::object()
                   .set("role", program.roles[loop.role].name)
                   .set("iterations", loop.iterations)
                   .set("inner_loops", loop.inner)
                   .set("instructions", loop.counts.all())
                   .set("issue", loop.counts.issue())
                   .set("counts", counts_json(loop.counts))
                   .set("stretches", std::move(stretches))
                   .set("turns", std::move(turns))
                   .set("drains", std::move(drains))
                   .set("interrupted", std::move(interrupted))
                   .set("reordered", std::move(reordered))
                   .set("moved", std::move(moved))
                   .set("time", loop.time ? time_json(*loop.time, kernel, emission) : Json()));
  }
  return loops;
}

Json machine_code_schema(Json& definitions) {
  const auto part = [&](const std::vector<std::pair<const char*, Json>>& members) {
    schema::Object object(definitions);
    for (const auto& [name, schema] : members) object.required(name, schema);
    return schema::list(object.finish());
  };
  const Json text = schema::type("string"), count = schema::count();
  schema::Object stretch(definitions);
  stretch.required("from", text, "a kind of step, or head")
      .optional("op", text)
      .optional("line", count, "of the text")
      .required("counts", counts_schema())
      .required("issue", count);
  schema::Object loop(definitions);
  loop.required("role", text)
      .required("iterations", count, "of the kernel's loop in one pass")
      .required("inner_loops", schema::type("boolean"), "it has loops of its own, counted once")
      .required("instructions", count)
      .required("issue", count, "cycles, one instruction after the other")
      .required("counts", counts_schema(), "instructions by kind")
      .required("stretches", schema::list(stretch.finish()), "from one point where roles meet to the next")
      .required("turns", part({{"op", text}, {"instructions", count}, {"issue", count}}), "from taking a turn to the first wgmma")
      .required("drains", part({{"op", text}, {"issue", count}}), "waits until no wgmma is in flight, and cycles until the next one")
      .required("interrupted", part({{"op", text}, {"gap", count}, {"wgmma", count}}), "products of an op with other work between them")
      .required("reordered", part({{"line", count}, {"before_line", count}}))
      .required("moved", part({{"op", text}, {"instructions", count}, {"later", count}, {"earlier", count}, {"past_line", count}}),
                "work that runs on the other side of a point than in the text")
      .required("time", time_schema(definitions));
  return schema::or_null(schema::list(loop.called("loop", "the steady loop of a role").finish()));
}

}  // namespace heddle::codegen
