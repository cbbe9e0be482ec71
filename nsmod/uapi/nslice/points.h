/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Groups of points on the kernel's tracepoints: what nsmod and the BPF recorder record.
 *
 * POINT(id, kind, tracepoint, probe, slice, flags, says); id: unique in the group; probe: the
 * function that writes the record, NULL if that of another point does.  Beginnings before ends.
 */
#ifndef NSLICE_POINTS_H
#define NSLICE_POINTS_H

/* GROUP(name, points, says) */
#define NSLICE_GROUPS(GROUP)                                                       \
	GROUP(net_rx, NSLICE_POINTS_NET_RX, "packets received")                    \
	GROUP(net_tx, NSLICE_POINTS_NET_TX, "packets sent")                        \
	GROUP(napi, NSLICE_POINTS_NAPI, "polls of devices")                        \
	GROUP(irq, NSLICE_POINTS_IRQ, "hard interrupts")                           \
	GROUP(softirq, NSLICE_POINTS_SOFTIRQ, "deferred work")                     \
	GROUP(sched, NSLICE_POINTS_SCHED, "thread switches")                       \
	GROUP(sock, NSLICE_POINTS_SOCK, "socket reads, packets consumed")          \
	GROUP(tcp_send, NSLICE_POINTS_TCP_SEND, "TCP packets from the program's call to the driver") \
	GROUP(tcp_recv, NSLICE_POINTS_TCP_RECV, "TCP packets from the driver to the program's call")

#define NSLICE_POINTS_NET_RX(POINT) \
	POINT(GRO_START, START, napi_gro_receive_entry, gro_receive_entry, "napi_gro_receive", 0, "a driver passes a packet to GRO") \
	POINT(GRO_STOP, STOP, napi_gro_receive_exit, gro_receive_exit, "napi_gro_receive", 0, "it was merged or passed on") \
	POINT(FRAGS_START, START, napi_gro_frags_entry, gro_frags_entry, "napi_gro_frags", 0, "the same for a packet of page fragments") \
	POINT(FRAGS_STOP, STOP, napi_gro_frags_exit, gro_frags_exit, "napi_gro_frags", 0, "it was merged or passed on") \
	POINT(RECEIVE_START, START, netif_receive_skb_entry, receive_entry, "netif_receive_skb", 0, "a packet enters the stack") \
	POINT(RECEIVE_STOP, STOP, netif_receive_skb_exit, receive_exit, "netif_receive_skb", 0, "the stack returns") \
	POINT(LIST_START, START, netif_receive_skb_list_entry, receive_list_entry, "netif_receive_skb_list", 0, \
	      "a list of packets enters the stack") \
	POINT(LIST_STOP, STOP, netif_receive_skb_list_exit, receive_list_exit, "netif_receive_skb_list", 0, "the stack returns") \
	POINT(RX_START, START, netif_rx_entry, rx_entry, "netif_rx", 0, "a packet is queued in a CPU's backlog") \
	POINT(RX_STOP, STOP, netif_rx_exit, rx_exit, "netif_rx", 0, "it was queued or dropped") \
	POINT(BYTES, MARK, netif_receive_skb, length, "rx_bytes", 0, "length of a packet that enters the stack")

#define NSLICE_POINTS_NET_TX(POINT) \
	POINT(BYTES, MARK, net_dev_queue, queued, "tx_bytes", 0, "a packet reaches a device's queue: its length") \
	POINT(XMIT_START, START, net_dev_start_xmit, start_xmit, "xmit", 0, "a packet is passed to the driver") \
	POINT(XMIT_STOP, STOP, net_dev_xmit, end_xmit, "xmit", 0, "the driver returns")

#define NSLICE_POINTS_NAPI(POINT) \
	POINT(WORK, MARK, napi_poll, polled, "napi_work", 0, "a poll ends: packets processed")

#define NSLICE_POINTS_IRQ_ALL(POINT) \
	POINT(START, START, irq_handler_entry, handler_entry, "irq", NSLICE_SITE_INTERRUPT, "a handler begins") \
	POINT(NUMBER, MARK, irq_handler_entry, number, "irq_number", 0, "the interrupt's number") \
	POINT(STOP, STOP, irq_handler_exit, handler_exit, "irq", NSLICE_SITE_INTERRUPT, "the handler returns")

/* Interrupts of the CPU itself, which do not pass through irq_handler_entry. */
#define NSLICE_POINTS_VECTOR(POINT, vector, slice, says) \
	POINT(vector##_START, START, vector##_entry, vector, slice, NSLICE_SITE_INTERRUPT, says) \
	POINT(vector##_STOP, STOP, vector##_exit, vector, slice, NSLICE_SITE_INTERRUPT, "the handler returns")
#define NSLICE_POINTS_IRQ_X86(POINT) \
	NSLICE_POINTS_VECTOR(POINT, local_timer, "local_timer", "the CPU's own timer") \
	NSLICE_POINTS_VECTOR(POINT, reschedule, "reschedule", "another CPU requested a reschedule") \
	NSLICE_POINTS_VECTOR(POINT, call_function, "call_function", "a function call requested on all CPUs") \
	NSLICE_POINTS_VECTOR(POINT, call_function_single, "call_function", "a function call requested on this CPU") \
	NSLICE_POINTS_VECTOR(POINT, irq_work, "irq_work", "work deferred by an interrupt or NMI")

#define NSLICE_POINTS_SOFTIRQ(POINT) \
	POINT(START, START, softirq_entry, entry, "softirq", NSLICE_SITE_INTERRUPT, "a handler begins") \
	POINT(VECTOR, MARK, softirq_entry, number, "softirq_vector", 0, "its number: 2 NET_TX, 3 NET_RX, ...") \
	POINT(STOP, STOP, softirq_exit, entry, "softirq", NSLICE_SITE_INTERRUPT, "the handler returns")

#define NSLICE_POINTS_SCHED(POINT) \
	POINT(SWITCH, MARK, sched_switch, switched, "sched_switch", NSLICE_SITE_SWITCH, \
	      "this thread leaves the CPU to the one whose id is the value")

#define NSLICE_POINTS_SOCK(POINT) \
	POINT(COPY, MARK, skb_copy_datagram_iovec, copied, "copy_to_user", 0, "data of a packet are copied to a program: bytes") \
	POINT(CONSUME, MARK, consume_skb, consumed, "consume_skb", 0, "a packet was consumed: its length")

#define NSLICE_POINTS_TCP_SEND(POINT) \
	POINT(CALL_START, START, sys_enter, call_entry, "send_call", 0, "a program's write, writev, send..., sendfile on a TCP socket") \
	POINT(TCP_START, START, sys_enter, NULL, "tcp_ip", 0, "socket, TCP and IP: from the call or the previous packet on") \
	POINT(INIT, INIT, net_dev_queue, queued, "tcp_send", 0, "a packet reaches a device's queue: number, 1, length") \
	POINT(QUEUE_START, START, net_dev_queue, NULL, "queue", 0, "the device's queue") \
	POINT(DRIVER_START, START, net_dev_start_xmit, start_xmit, "driver", 0, "it or a segment of it is passed to the driver") \
	POINT(WIRE, MARK, net_dev_start_xmit, NULL, "wire_bytes", 0, "length passed to the driver") \
	POINT(TCP_STOP, STOP, net_dev_queue, NULL, "tcp_ip", 0, "a packet reaches a device's queue, or the call ends") \
	POINT(QUEUE_STOP, STOP, net_dev_start_xmit, NULL, "queue", 0, "it is passed to the driver, left in the queue or dropped") \
	POINT(DRIVER_STOP, STOP, net_dev_xmit, end_xmit, "driver", 0, "the driver returns") \
	POINT(EXIT, EXIT, net_dev_xmit, NULL, "tcp_send", 0, "the driver returns, or the packet is left in the queue or dropped") \
	POINT(RELEASE, MARK, consume_skb, consumed, "release", 0, "a packet is released: its length then") \
	POINT(SENT, MARK, sock_send_length, sent, "sent", 0, "bytes accepted by TCP, or a negative error") \
	POINT(ASIDE, STOP, qdisc_enqueue, put_aside, "queue", 0, "the packet waits in the queue; its unit ends") \
	POINT(DROPPED, STOP, kfree_skb, dropped, "queue", 0, "the packet is dropped; its unit ends") \
	POINT(SWITCHED, STOP, sched_switch, switched, "queue", 0, "the thread leaves the CPU before sending it; its unit ends") \
	POINT(SOFTIRQ_OVER, STOP, softirq_exit, softirq_over, "queue", 0, "the softirq ends before sending it; its unit ends") \
	POINT(CALL_STOP, STOP, sys_exit, call_exit, "send_call", 0, "the call returns")

#define NSLICE_POINTS_TCP_RECV(POINT) \
	POINT(GRO_START, START, napi_gro_receive_entry, gro_entry, "gro", 0, "a driver passes a packet to GRO") \
	POINT(INIT, INIT, netif_receive_skb, received, "tcp_recv", 0, "a packet enters the stack: number, 1, length") \
	POINT(IP_START, START, netif_receive_skb, NULL, "ip", 0, "taps, filters, IP, and TCP's lookup of the connection") \
	POINT(TCP_START, START, tcp_probe, tcp_begins, "tcp", 0, "TCP has found the established connection") \
	POINT(CALL_START, START, sys_enter, call_entry, "recv_call", 0, "a program's read, readv, recv... on a TCP socket") \
	POINT(COPY_START, START, skb_copy_datagram_iovec, copy, "copy", 0, "data of a packet are copied to the program") \
	POINT(COPIED, MARK, skb_copy_datagram_iovec, NULL, "copied", 0, "number of bytes") \
	POINT(READY, MARK, sk_data_ready, ready, "data_ready", 0, "TCP notifies the socket's readers") \
	POINT(GRO_STOP, STOP, napi_gro_receive_exit, gro_exit, "gro", 0, "it was merged or passed on") \
	POINT(IP_STOP, STOP, tcp_probe, NULL, "ip", 0, "TCP has found the connection, or the packet's unit ends") \
	POINT(TCP_STOP, STOP, napi_poll, polled, "tcp", 0, "the poll ends, or the next packet begins") \
	POINT(EXIT, EXIT, napi_poll, NULL, "tcp_recv", 0, "the same") \
	POINT(RECEIVED, STOP, netif_receive_skb_exit, receive_exit, "tcp", 0, "the stack returns to the driver; the packet's unit ends") \
	POINT(DROPPED, STOP, kfree_skb, dropped, "tcp", 0, "the packet is dropped; its unit ends") \
	POINT(CONSUMED, STOP, consume_skb, consumed, "tcp", 0, "the packet is consumed; its unit ends") \
	POINT(SOFTIRQ_OVER, STOP, softirq_exit, softirq_over, "tcp", 0, "the softirq ends; the packet's unit ends") \
	POINT(COPY_STOP, STOP, tcp_rcv_space_adjust, copy_over, "copy", 0, "the copy is complete") \
	POINT(CALL_STOP, STOP, sys_exit, call_exit, "recv_call", 0, "the call returns")

#endif /* NSLICE_POINTS_H */
