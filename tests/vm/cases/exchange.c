/* SPDX-License-Identifier: MIT */
/* exchange COUNT PORT: a TCP connection of this process with itself over loopback; COUNT times 100
 * bytes there and one byte back. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(what)        \
    do {                   \
        if (!(what)) {     \
            perror(#what); \
            return 1;      \
        }                  \
    } while (0)

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int listener = socket(AF_INET, SOCK_STREAM, 0), near = socket(AF_INET, SOCK_STREAM, 0);
    const int one = 1;
    char data[100] = "";
    int far;

    if (argc != 3) {
        fprintf(stderr, "usage: exchange COUNT PORT\n");
        return 2;
    }
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(connect(near, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK((far = accept(listener, NULL, NULL)) >= 0);
    setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(far, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (int left = atoi(argv[1]); left > 0; --left) {
        CHECK(send(near, data, sizeof data, 0) == (ssize_t)sizeof data);
        CHECK(recv(far, data, sizeof data, MSG_WAITALL) == (ssize_t)sizeof data);
        CHECK(send(far, data, 1, 0) == 1);
        CHECK(recv(near, data, 1, 0) == 1);
    }
    close(near);
    close(far);
    return 0;
}
