// The panels' state as a whole: made here, where the states of all tabs are known.
#include "app/ui/panels.h"

#include "app/ui/tabs/alternatives_state.h"
#include "app/ui/tabs/audit_state.h"
#include "app/ui/tabs/compare_state.h"
#include "app/ui/tabs/constraints_state.h"
#include "app/ui/tabs/cuda_state.h"
#include "app/ui/tabs/explain_state.h"
#include "app/ui/tabs/graph_state.h"
#include "app/ui/tabs/pareto_state.h"
#include "app/ui/tabs/pipeline_state.h"
#include "app/ui/tabs/sensitivity_state.h"
#include "app/ui/tabs/slack_state.h"
#include "app/ui/tabs/sweep_state.h"
#include "app/ui/tabs/what_if_state.h"

namespace heddle::app {

UiState::UiState()
    : alternatives(std::make_unique<AlternativesTabState>()),
      audit(std::make_unique<AuditTabState>()),
      compare_tab(std::make_unique<CompareTabState>()),
      constraints(std::make_unique<ConstraintsState>()),
      cuda(std::make_unique<CudaTabState>()),
      explain(std::make_unique<ExplainTabState>()),
      graph(std::make_unique<GraphState>()),
      pareto(std::make_unique<ParetoState>()),
      pipeline(std::make_unique<PipelineState>()),
      sensitivity(std::make_unique<SensitivityState>()),
      slack(std::make_unique<SlackTabState>()),
      sweep(std::make_unique<SweepTabState>()),
      what_if(std::make_unique<WhatIfState>()) {}
UiState::~UiState() = default;

}  // namespace heddle::app
