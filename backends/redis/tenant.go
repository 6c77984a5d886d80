package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/history"
)

// Of lists the keys that have the name of a run in theirs, as all of its locks have.
func (a store) Of(ctx context.Context, run string) ([]string, error) {
	return asked(a.admin, func(c *goredis.Client) (keys []string, err error) {
		for cursor := uint64(0); ; {
			page, next, err := c.Scan(ctx, cursor, "*"+run+"*", scanPage).Result()
			keys = append(keys, page...)
			if cursor = next; err != nil || cursor == 0 {
				return keys, err
			}
		}
	})
}

const scanPage = 1000

// Clear deletes those keys. A replica gets that from its master.
func (a store) Clear(ctx context.Context, run string) (int64, error) {
	if role, err := a.Role(ctx); err != nil || role == history.RoleReplica {
		return 0, err
	}
	keys, err := a.Of(ctx, run)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return a.Delete(ctx, keys)
}

// Version is what INFO says: the fork that Valkey is tells its own number beside that of Redis.
func (a store) Version(ctx context.Context) (string, error) {
	info, err := a.info(ctx, "server")
	if v := infoField(info, "valkey_version"); v != "" {
		return "valkey " + v, err
	}
	return "redis " + infoField(info, "redis_version"), err
}

// login says the password, and the user where there is one.
func login(c net.Conn, user, password string) error {
	words := []string{"AUTH", user, password}
	if user == "" {
		words = []string{"AUTH", password}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := c.Write([]byte(b.String())); err != nil {
		return err
	}
	// One answer, and nothing after it: nobody has asked for more.
	said, err := bufio.NewReaderSize(c, 512).ReadString('\n')
	if err != nil {
		return err
	}
	if said = strings.TrimSpace(said); said != "+OK" {
		return errors.New(strings.TrimPrefix(said, "-"))
	}
	return nil
}
