// What the two forms of the joint problem share: build, ask, read. `Form` is constructed from (backend, graph, options, query),
// says how many clauses that takes, and has the schedule of the backend's model.
#pragma once

#include "solver/paper/joint.h"

namespace heddle::solver::paper {

/// Unknown when the form would take more than `most_clauses`.
template <class Form>
JointAnswer ask_form(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits,
                     std::int64_t most_clauses) {
  JointAnswer result;
  if (Form::size(graph, query) > most_clauses) return result;
  Backend backend(query.seed, limits);
  const Form model(backend, graph, options, query);
  result.clauses = backend.clause_count();
  result.answer = backend.check();
  if (result.answer == Answer::Yes) result.schedule = model.schedule();
  return result;
}

}  // namespace heddle::solver::paper
