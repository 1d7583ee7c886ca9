// The functions that a coordinator plans and answers with, over a profile
// store.
//
// Concept: a coordinator knows plans by the types of plans/plan_function.h and
// plans/plan_questions.h alone, and nothing of graphs. Here they get their
// rooms: planning or stages, explain, validation.
// Ownership: the store outlives the functions. Threads: any number of calls at
// once. Errors: those of the rooms; kInvalidArgument for a validation with more
// random plans than there may be.
#ifndef MESHWRIGHT_COORDINATOR_ANSWERS_ANSWERS_H_
#define MESHWRIGHT_COORDINATOR_ANSWERS_ANSWERS_H_

#include "coordinator/plans/plan_function.h"
#include "coordinator/plans/plan_questions.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::answers {

plans::PlanFunction MakePlanFunction(store::ProfileStore* store);

// The programs of a plan that the store knows.
plans::CoverageFunction MakeCoverageFunction(store::ProfileStore* store);

// Answers from that store; a search of an explanation takes 10 seconds at most.
// A validation records in it what is measured again.
plans::PlanQuestions MakePlanQuestions(store::ProfileStore* store);

}  // namespace meshwright::answers

#endif  // MESHWRIGHT_COORDINATOR_ANSWERS_ANSWERS_H_
