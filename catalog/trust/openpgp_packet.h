/* openpgp_packet: the bytes of OpenPGP: packets, subpackets, numbers, armor. See openpgp.h. */
#ifndef CATALOG_TRUST_OPENPGP_PACKET_H
#define CATALOG_TRUST_OPENPGP_PACKET_H

#include <stdbool.h>

#include "catalog/trust/openpgp.h"

enum pgp_tag {
	PGP_SIGNATURE = 2,
	PGP_KEY = 6,
	PGP_USER_ID = 13,
	PGP_SUBKEY = 14,
};
enum pgp_algorithm { PGP_RSA = 1, PGP_RSA_SIGN = 3, PGP_EDDSA = 22, PGP_ED25519 = 27 };
enum pgp_signature_type {
	PGP_BINARY = 0x00,
	PGP_TEXT = 0x01,
	PGP_CERTIFY_FIRST = 0x10,
	PGP_CERTIFY_LAST = 0x13,
	PGP_BIND_SUBKEY = 0x18,
	PGP_BIND_PRIMARY = 0x19, /* embedded: the subkey agrees */
	PGP_DIRECT = 0x1F,
	PGP_REVOKE_KEY = 0x20,
	PGP_REVOKE_SUBKEY = 0x28,
};
#define PGP_FLAG_SIGN 0x02u

struct pgp_packet {
	unsigned tag;
	struct str body;
};
/* Takes a packet off the front. 0: none is left. */
int pgp_next_packet(struct str *rest, struct pgp_packet *ret, struct error *err);

/* Big-endian. False: too short. */
bool pgp_take(struct str *s, size_t n, struct str *ret);
bool pgp_take_uint(struct str *s, unsigned n_bytes, uint32_t *ret);
/* A number without leading zeros whose bit length is said exactly; at most 1,024 bytes. */
bool pgp_take_number(struct str *s, struct str *ret);

struct pgp_signature {
	unsigned type, algorithm, hash;
	struct str hashed;            /* of the packet, what goes into the hash */
	struct str fields;            /* the numbers */
	struct str embedded;          /* signature of the subkey; STR_NONE: none */
	unsigned char left[2];        /* the hash begins with it */
	int64_t created_s, expires_s; /* expires_s: 0 never */
	uint32_t key_life_s;          /* of the key that it is about; 0: no end */
	unsigned key_flags;
	bool has_flags;
	struct str key_id, fingerprint; /* of who made it; either may be STR_NONE */
};
int pgp_read_signature(struct str body, struct pgp_signature *ret, struct error *err);

/* "SHA256" for 8; NULL: not believed. */
const char *pgp_hash_name(unsigned algorithm);

/* The next line without \n or \r\n; a \r elsewhere stays. False: there is none. */
bool pgp_next_line(struct str *rest, struct str *ret);
/* The bytes of one block whose first line has been taken; takes its last line too. */
int pgp_dearmor(struct str *rest, const char *last_line, struct arena *a, struct str *ret,
		struct error *err);

#endif
