#include "worker/pjrt/call.h"

#include "base/status_macros.h"
#include "pjrt_c_api.h"

namespace meshwright::worker::pjrt {

bool HasFunction(const PJRT_Api* api, const void* slot) {
  const size_t offset =
      static_cast<const char*>(slot) - reinterpret_cast<const char*>(api);
  return offset + sizeof(void*) <= api->struct_size &&
         *static_cast<void* const*>(slot) != nullptr;
}

absl::Status TakeError(const PJRT_Api* api, PJRT_Error* error) {
  if (error == nullptr) return absl::OkStatus();
  Padded<PJRT_Error_Message_Args> message;
  message->error = error;
  api->PJRT_Error_Message(message.get());
  Padded<PJRT_Error_GetCode_Args> code;
  code->error = error;
  if (PJRT_Error* failed = api->PJRT_Error_GetCode(code.get())) {
    code->code = PJRT_Error_Code_UNKNOWN;
    Padded<PJRT_Error_Destroy_Args> destroy;
    destroy->error = failed;
    api->PJRT_Error_Destroy(destroy.get());
  }
  std::string_view text(message->message, message->message_size);
  while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  const std::string line(text.substr(0, text.find('\n')));
  Padded<PJRT_Error_Destroy_Args> destroy;
  destroy->error = error;
  api->PJRT_Error_Destroy(destroy.get());
  return absl::Status(static_cast<absl::StatusCode>(code->code), line);
}

absl::Status Await(const PJRT_Api* api, PJRT_Event* event) {
  if (event == nullptr) return absl::OkStatus();
  Padded<PJRT_Event_Await_Args> await;
  await->event = event;
  const absl::Status status = MESHWRIGHT_PJRT(api, PJRT_Event_Await, await);
  Padded<PJRT_Event_Destroy_Args> destroy;
  destroy->event = event;
  const absl::Status destroyed =
      MESHWRIGHT_PJRT(api, PJRT_Event_Destroy, destroy);
  return status.ok() ? destroyed : status;
}

}  // namespace meshwright::worker::pjrt
