// A client of an HttpServer that sends the bytes it is given, sound or not.
//
// Errors: none; where nobody answers the text is empty, and the test fails.
#ifndef MESHWRIGHT_COORDINATOR_HTTP_TESTING_ASK_HTTP_H_
#define MESHWRIGHT_COORDINATOR_HTTP_TESTING_ASK_HTTP_H_

#include <string>

namespace meshwright::http {

// A socket that is connected to 127.0.0.1:PORT; -1: nobody listens. The caller
// closes it.
int ConnectHttp(const std::string& address);

// The whole answer to these bytes at 127.0.0.1:PORT, until the other side ends
// the connection.
std::string AskHttp(const std::string& address, const std::string& request);

}  // namespace meshwright::http

#endif  // MESHWRIGHT_COORDINATOR_HTTP_TESTING_ASK_HTTP_H_
