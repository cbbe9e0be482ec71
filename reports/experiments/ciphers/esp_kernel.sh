# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # sourced by esp.sh, whose variables these are
# ESP by the kernel: states and policies with fixed keys, so that no daemon is required.

# A key of so many bytes; nothing here is secret.
kernel_key() { printf '0x'; yes 5a | head -n "$1" | tr -d '\n'; }

# kernel_state SOURCE DESTINATION SPI WORDS...
kernel_state()
{
    source=$1 destination=$2 spi=$3
    shift 3
    ip xfrm state add src "$source" dst "$destination" proto esp spi "$spi" reqid 1 mode tunnel "$@"
}

# A kernel without ESP refuses the state.
kernel_has_esp()
{
    kernel_state 192.0.2.1 192.0.2.2 0x7fff enc 'ecb(cipher_null)' '' 2>/dev/null || return 1
    ip xfrm state delete src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x7fff
}

kernel_both_states()
{
    kernel_state 10.1.0.1 10.1.0.2 0x1001 "$@" && kernel_state 10.1.0.2 10.1.0.1 0x1002 "$@"
}

kernel_up()
{
    case $cipher in
    null) kernel_both_states enc 'ecb(cipher_null)' '' ;;
    null-sha1) kernel_both_states enc 'ecb(cipher_null)' '' auth-trunc 'hmac(sha1)' "$(kernel_key 20)" 96 ;;
    aes128gcm16) kernel_both_states aead 'rfc4106(gcm(aes))' "$(kernel_key 20)" 128 ;;
    aes256gcm16) kernel_both_states aead 'rfc4106(gcm(aes))' "$(kernel_key 36)" 128 ;;
    esac || fail "missing: $cipher in the kernel's ESP"
    kernel_check_instructions
    ip xfrm policy add src "$near" dst "$far" dir out tmpl src "$here" dst "$there" proto esp reqid 1 mode tunnel
    for direction in in fwd; do
        ip xfrm policy add src "$far" dst "$near" dir $direction \
            tmpl src "$there" dst "$here" proto esp reqid 1 mode tunnel
    done
    route
}

# The driver with the highest priority that /proc/crypto has for the cipher, as the kernel chooses it.
kernel_driver()
{
    awk -v wanted='rfc4106(gcm(aes))' '
        $1 == "name" { name = $3 }
        $1 == "driver" { driver = $3 }
        $1 == "priority" && name == wanted && $3 + 0 >= best { best = $3 + 0; found = driver }
        END { print found }' /proc/crypto
}

kernel_check_instructions()
{
    case $cipher in aes*) ;; *) return 0 ;; esac
    driver=$(kernel_driver)
    case $aes,$driver in
    yes,*aesni* | yes,*vaes* | yes,*-ce* | masked,*generic*) ;;
    yes,*) fail "missing: AES instructions in the kernel (driver $driver; module aesni_intel)" ;;
    masked,*) fail "missing: AES without instructions (driver $driver; remove the module aesni_intel)" ;;
    esac
}

kernel_describe()
{
    echo "implementation: ESP of the kernel, Linux $(uname -r)"
    case $cipher in
    aes*) echo "cipher: $cipher, driver $(kernel_driver)"; echo "AES instructions: $aes" ;;
    *) echo "cipher: $cipher" ;;
    esac
    ip -s xfrm state | sed -n 's/^[[:space:]]*\([0-9]*\)(bytes), \([0-9]*\)(packets)$/tunnel: \1 bytes, \2 packets/p' >"$state/counts"
    cat "$state/counts"
    check_counts
    echo "daemon: 0 ns/byte"
}

kernel_down()
{
    ip xfrm policy flush
    ip xfrm state flush
}
