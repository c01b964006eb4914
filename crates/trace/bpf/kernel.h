// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// The fields of the kernel's frame structures that these programs read.

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
	unsigned int inum;
};
struct net {
	struct ns_common ns;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct net_device {
	int ifindex;
	possible_net_t nd_net;
	char name[16];
};
struct sock_common {
	possible_net_t skc_net;
};
struct sock {
	struct sock_common __sk_common;
};
struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len, data_len;
	u16 protocol;
	u16 mac_header;
	u16 vlan_proto, vlan_tci;
	int skb_iif;
	unsigned int tail, end;
	unsigned char *head, *data;
};
// Follows the frame's data.
struct skb_shared_hwtstamps {
	s64 hwtstamp;
};
struct skb_shared_info {
	struct skb_shared_hwtstamps hwtstamps;
};
#pragma clang attribute pop
