#include "coordinator/jobs/progress.h"

#include "base/status_macros.h"

namespace meshwright::jobs {

absl::Status MeasureWithProgress(Measurer* measurer,
                                 const v1::RunnerRequest& request,
                                 const Measurer::OnResult& on_result,
                                 const ProgressFunction& on_progress) {
  v1::PlanProgress progress;
  progress.set_total(request.programs_size());
  return measurer->Measure(
      request,
      [&](const v1::ProfileResult& result) {
        RETURN_IF_ERROR(on_result(result));
        progress.set_phase("measure");
        progress.set_done(progress.done() + 1);
        on_progress(progress);
        return absl::OkStatus();
      },
      [&](const v1::RunnerEvent::Started& started) {
        progress.set_phase(started.phase() == v1::RunnerEvent::Started::COMPILE
                               ? "compile"
                               : "measure");
        on_progress(progress);
      });
}

}  // namespace meshwright::jobs
